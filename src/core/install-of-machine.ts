import type { InstallRecord } from './fleet.ts'
import type { Host, Inventory } from './host.ts'
import { installStateAt } from './install.ts'
import { machineMarks } from './machine-marks.ts'

/** Of a machine whose cards were changed over and over, the newest count. */
const mostMarks = 64

type Known = Pick<Inventory, 'hostsById' | 'installs' | 'installsByMark'>

/**
 * What is known of installing a host: its own record, and what records of other names say of its machine. A disk that
 * was written stays written when its host is renamed, moved to another file or given to another record (field case
 * 154), so the word of such a record goes with the MACs, UUID and serial that it was given for. Of several the last
 * arming counts, and what came of it before that it was armed. What is armed for another name counts only once that
 * host has gone, and only where the host has no record of its own.
 * @param now ms since the epoch
 */
export function installRecordOf(host: Host, known: Known, now: number): InstallRecord | undefined {
  const own = known.installs.get(host.id)
  const others = recordsOfMachine(host, known).filter(
    (record) =>
      installStateAt(record, now) !== 'armed' || (own === undefined && !known.hostsById.has(record.host)),
  )
  const [first, ...more] = own === undefined ? others : [own, ...others]
  if (first === undefined || (first === own && more.length === 0)) return own
  const last = more.reduce((best, record) => (isLaterWord(record, best, now) ? record : best), first)
  const fileGeneration = Math.max(first.fileGeneration, ...more.map((record) => record.fileGeneration))
  if (last === own) return fileGeneration === own.fileGeneration ? own : { ...own, fileGeneration }
  const asOther = `, as host ${last.host}`
  const changedBy = last.changedBy.includes(', as host ') ? last.changedBy : `${last.changedBy}${asOther}`
  return { ...last, host: host.id, fileGeneration, changedBy }
}

/** The same by id, also of a host that has gone. */
export function installRecordById(id: string, known: Known, now: number): InstallRecord | undefined {
  const host = known.hostsById.get(id)
  return host === undefined ? known.installs.get(id) : installRecordOf(host, known, now)
}

/**
 * The record with what its machine is recognised by. What is armed is for the machine as it is now; what is done, given
 * up or taken back was said of a disk, and stays with everything that it was ever found by.
 */
export function withMarks(record: InstallRecord, marks: readonly string[]): InstallRecord {
  const before = record.marks ?? []
  const next = record.state === 'armed' ? marks : [...new Set([...marks, ...before])].slice(0, mostMarks)
  const isSame = next.length === before.length && next.every((mark) => before.includes(mark))
  return isSame ? record : { ...record, marks: next }
}

function recordsOfMachine(host: Host, { installsByMark }: Known): readonly InstallRecord[] {
  if (installsByMark.size === 0) return []
  const found = new Set<InstallRecord>()
  for (const mark of machineMarks(host)) {
    for (const record of installsByMark.get(mark) ?? []) if (record.host !== host.id) found.add(record)
  }
  return [...found]
}

function isLaterWord(record: InstallRecord, than: InstallRecord, now: number): boolean {
  if (record.generation !== than.generation) return record.generation > than.generation
  const isArmed = installStateAt(record, now) === 'armed'
  const isOtherArmed = installStateAt(than, now) === 'armed'
  if (isArmed !== isOtherArmed) return isOtherArmed
  return record.changedAt > than.changedAt
}
