import type { InstallRecord } from '../../core/fleet.ts'
import { installStateAt } from '../../core/install.ts'
import type { InstallSummary } from '../../http/admin/schemas/fleet.ts'
import { iso } from './times.ts'

/**
 * What the API and the command line say of an install. What failed before it was done is over, and stands in the reports.
 * @param fileDevice the disk that the settings of its host name: of an install by files nothing else is written
 */
export function installSummary(record: InstallRecord, now: number, fileDevice?: string): InstallSummary {
  const { host, source, generation, device, armedBy, reason, serves, mostServes, changedBy } = record
  const state = installStateAt(record, now)
  const failure = state === 'installed' ? undefined : record.failure
  return {
    host,
    source,
    state,
    generation,
    device: device ?? (source === 'file' ? fileDevice : undefined),
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
