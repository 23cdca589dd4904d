import { ServiceError } from '../../src/core/errors.ts'
import type { StateStore } from '../../src/state/store.ts'

/** A state store in which everything fails, as when its disk is gone. Closing still works. */
export function createBrokenStore(): StateStore {
  const fails = (step: string) => async (): Promise<never> => {
    throw new ServiceError('STATE_UNAVAILABLE', `${step}: disk I/O error`, { step })
  }
  return {
    recordRefresh: fails('recording a refresh'),
    recordDocument: fails('recording a document'),
    listDocuments: fails('listing documents'),
    addBootimage: fails('adding a bootimage'),
    setBootimageState: fails('setting the state of a bootimage'),
    listBootimages: fails('listing bootimages'),
    removeBootimage: fails('removing a bootimage'),
    listHeads: fails('listing stream heads'),
    saveHead: fails('saving a stream head'),
    addDerived: fails('recording a derived file'),
    listDerived: fails('listing derived files'),
    savePinResolution: fails('saving a resolved pin'),
    listPinResolutions: fails('listing resolved pins'),
    saveBootAttempts: fails('saving boot attempts'),
    listBootAttempts: fails('listing boot attempts'),
    trimBootAttempts: fails('removing boot attempts'),
    saveBootimageLeases: fails('saving leased bootimages'),
    listBootimageLeases: fails('listing leased bootimages'),
    saveVerified: fails('recording a verified file'),
    removeVerified: fails('forgetting verified files'),
    listVerified: fails('listing verified files'),
    loadFleet: fails('loading what admins said'),
    writeFleet: fails('writing a change'),
    listAudit: fails('listing the audit'),
    listReports: fails('listing reports'),
    saveSeenMachines: fails('saving seen machines'),
    removeSeenMachines: fails('removing seen machines'),
    listSeenMachines: fails('listing seen machines'),
    secretKey: fails('reading a secret'),
    trimHistory: fails('removing what is over'),
    async close() {},
  }
}
