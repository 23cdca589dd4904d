import { setImmediate as nextTurn } from 'node:timers/promises'
import { readRecord } from '../../config/parse-record.ts'
import { ServiceError } from '../../core/errors.ts'
import type { StoredRecord } from '../../core/fleet.ts'
import { recordProblemText } from './check-record.ts'

/** Some 5 ms. */
const recordsPerSlice = 200
const shownRecords = 5

/**
 * Whether this version understands the records of a backup, in slices between which boots are answered.
 * @throws ServiceError BACKUP_INVALID naming the first that it does not
 */
export async function checkRestored(file: string, records: readonly StoredRecord[]): Promise<void> {
  const bad: string[] = []
  for (const [index, { kind, name, spec, changedBy, changedAt }] of records.entries()) {
    if (index > 0 && index % recordsPerSlice === 0) await nextTurn()
    const read = readRecord(kind, name, spec, { by: changedBy, at: changedAt })
    if ('problems' in read) bad.push(`${kind} ${name}: ${read.problems.map(recordProblemText).join('; ')}`)
  }
  if (bad.length === 0) return
  const more = bad.length > shownRecords ? `, and ${bad.length - shownRecords} more` : ''
  throw new ServiceError(
    'BACKUP_INVALID',
    `${file} cannot be restored: this version cannot read ${bad.slice(0, shownRecords).join(', ')}${more}; nothing was changed`,
    { file, hint: 'a newer version of pilotlight may have written it: restore it with that one' },
  )
}
