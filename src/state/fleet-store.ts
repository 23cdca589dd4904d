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
import { secretKey } from './secret-keys.ts'
import type { FleetStore } from './store.ts'
import type { StateTables } from './tables.ts'
import { writeFleet } from './write-fleet.ts'

/** What admins and nodes said, in SQL. `step` names what is done and turns what goes wrong into our own errors. */
export function createFleetStore({
  db,
  rowReader,
  step,
}: {
  readonly db: Kysely<StateTables>
  readonly rowReader: RowReader
  readonly step: <T>(name: string, run: () => Promise<T>) => Promise<T>
}): Omit<FleetStore, 'backup' | 'restore'> {
  return {
    loadFleet: () => step('loading what admins said', () => loadFleet(db, rowReader)),
    writeFleet: (write) => step('writing a change', () => writeFleet(db, write)),
    listAudit: (filter) => step('listing the audit', () => listAudit(db, rowReader, filter)),
    listReports: (filter) => step('listing reports', () => listReports(db, rowReader, filter)),
    saveSeenMachines: (machines) => step('saving seen machines', () => saveSeenMachines(db, machines)),
    removeSeenMachines: (macs) => step('removing seen machines', () => removeSeenMachines(db, macs)),
    listSeenMachines: (filter) =>
      step('listing seen machines', () => listSeenMachines(db, rowReader, filter)),
    secretKey: (name, make) => step('reading a secret', () => secretKey(db, rowReader, name, make)),
    trimHistory: (limits) => step('removing what is over', () => trimHistory(db, limits)),
  }
}
