import type { Kysely } from 'kysely'
import {
  listAudit,
  listReports,
  listSeenMachines,
  removeSeenMachines,
  saveSeenMachines,
  trimHistory,
} from './history.ts'
import { loadFleet } from './load-fleet.ts'
import type { RowReader } from './readable-rows.ts'
import { restoreFrom } from './restore.ts'
import { keepSecret } from './secret-keys.ts'
import type { FleetStore, RestoredCounts } from './store.ts'
import type { storeSteps } from './store-steps.ts'
import type { StateTables } from './tables.ts'
import { writeFleet } from './write-fleet.ts'

/** As far as one connection goes: no functions as arguments, and no files but a copy of a backup that was checked. */
export interface SqlFleetStore extends Omit<FleetStore, 'secretKey' | 'backup' | 'restore'> {
  /** The secret of this name; the first that is offered is kept. `undefined`: there is none, and none was offered. */
  keepSecret(name: string, offered?: Uint8Array): Promise<Uint8Array | undefined>
  /** `copy` is a database of this schema version that was checked (`prepare-restore.ts`). */
  restoreFrom(copy: string): Promise<RestoredCounts>
}

/** What admins and nodes said, in SQL. `step` names what is done and turns what goes wrong into our own errors. */
export function createFleetStore({
  db,
  rowReader,
  step,
  checkTime,
}: {
  readonly db: Kysely<StateTables>
  readonly rowReader: RowReader
  readonly step: <T>(name: keyof typeof storeSteps, run: () => Promise<T>) => Promise<T>
  readonly checkTime?: () => void
}): SqlFleetStore {
  return {
    loadFleet: () => step('loadFleet', () => loadFleet(db, rowReader)),
    writeFleet: (write) => step('writeFleet', () => writeFleet(db, write, checkTime)),
    listAudit: (filter) => step('listAudit', () => listAudit(db, rowReader, filter)),
    listReports: (filter) => step('listReports', () => listReports(db, rowReader, filter)),
    saveSeenMachines: (machines) => step('saveSeenMachines', () => saveSeenMachines(db, machines)),
    removeSeenMachines: (macs) => step('removeSeenMachines', () => removeSeenMachines(db, macs)),
    listSeenMachines: (filter) => step('listSeenMachines', () => listSeenMachines(db, rowReader, filter)),
    keepSecret: (name, offered) => step('secretKey', () => keepSecret(db, rowReader, name, offered)),
    trimHistory: (limits) => step('trimHistory', () => trimHistory(db, limits)),
    restoreFrom: (copy) => step('restore', () => restoreFrom(db, copy)),
  }
}
