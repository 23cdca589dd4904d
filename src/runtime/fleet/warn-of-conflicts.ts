import type { FleetConflict } from '../../core/fleet-index.ts'
import type { Log } from '../../core/log.ts'

/** More lines say nothing new. */
const toldConflicts = 10

/** What an admin said by the API once does not count as it was said, because of what the files say now. */
export function warnOfConflicts(conflicts: readonly FleetConflict[], log: Log): void {
  for (const { kind, name, text } of conflicts.slice(0, toldConflicts)) {
    log.warn({ kind, name, conflict: text }, 'a record of the API does not count, or not all of it')
  }
  if (conflicts.length > toldConflicts) {
    log.warn({ records: conflicts.length }, 'more records of the API do not count, or not all of them')
  }
}
