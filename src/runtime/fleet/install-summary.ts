import type { InstallRecord } from '../../core/fleet.ts'
import { installStateAt } from '../../core/install.ts'
import type { InstallSummary } from '../../http/admin/schemas/fleet.ts'
import { iso } from './times.ts'

/** What the API and the command line say of an install. */
export function installSummary(record: InstallRecord, now: number): InstallSummary {
  const { host, source, generation, device, armedBy, reason, serves, mostServes, failure, changedBy } = record
  return {
    host,
    source,
    state: installStateAt(record, now),
    generation,
    device,
    armedAt: iso(record.armedAt),
    armedBy,
    reason,
    serves,
    mostServes,
    until: iso(record.until),
    failure: failure && { at: iso(failure.at), message: failure.message },
    changedAt: iso(record.changedAt),
    changedBy,
  }
}
