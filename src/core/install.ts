import type { BootId } from './boot-event.ts'
import type { InstallRecord, InstallState } from './fleet.ts'
import type { BootMode } from './host.ts'

/** Install scripts that are handed out at most for one arming, unless an admin says otherwise. */
export const defaultMostServes = 5
/** How long one arming lasts, unless an admin says otherwise. */
export const defaultInstallMs = 24 * 60 * 60 * 1000

/**
 * Where the installing of a host stands at a moment. `record` is the one in force: for a file's arming that nothing was
 * written of yet, it is the one to be written when something happens.
 */
export type InstallStanding =
  /** Nothing of it counts: the mode of its settings does. */
  | { readonly kind: 'none'; readonly record?: InstallRecord }
  | { readonly kind: 'armed'; readonly record: InstallRecord }
  /** It boots from its own disk, because this install is done or given up. */
  | { readonly kind: 'over'; readonly record: InstallRecord }

/** What installing depends on besides its record. */
export interface InstallQuestion {
  readonly host: string
  readonly record?: InstallRecord
  /** What its settings say without this record, and where they say `install`. */
  readonly mode?: BootMode
  readonly generation: number
  readonly armedBy: () => string
  /** Ms since the epoch. */
  readonly now: number
}

/**
 * A file arms by mode `install` and a generation that no record speaks for yet; an admin arms by a command, whatever the
 * mode is. What is over lets the host boot from its disk until it is armed again, or an admin's is released.
 * Nothing but evidence, an admin's word or a limit ends an arming (field cases 153, 154).
 */
export function installStanding(question: InstallQuestion): InstallStanding {
  const { record, mode, generation, now } = question
  const isForFiles = mode === 'install'
  if (record === undefined) return isForFiles ? armedByFile(question) : { kind: 'none' }
  if (record.source === 'admin' && record.state === 'armed' && !isAtItsLimit(record, now)) {
    // One install answers both words: the evidence for it is evidence for what its files ask for meanwhile.
    const isRaised = generation > record.fileGeneration
    return { kind: 'armed', record: isRaised ? { ...record, fileGeneration: generation } : record }
  }
  if (isForFiles && generation > record.fileGeneration) return armedByFile(question)
  const isGone = record.source === 'admin' && record.state === 'disarmed'
  if (!isForFiles && (record.source === 'file' || isGone)) return { kind: 'none', record }
  if (record.state !== 'armed') return { kind: 'over', record }
  const state = installStateAt(record, now)
  if (state === 'exhausted') return { kind: 'over', record: { ...record, state } }
  if (generation < record.fileGeneration) return { kind: 'over', record: takenBack(record, generation) }
  return { kind: 'armed', record }
}

function armedByFile({ host, record, generation, armedBy, now }: InstallQuestion): InstallStanding {
  const by = armedBy()
  return {
    kind: 'armed',
    record: {
      host,
      source: 'file',
      state: 'armed',
      generation: nextGeneration(record, generation),
      fileGeneration: generation,
      armedAt: now,
      armedBy: by,
      serves: 0,
      mostServes: defaultMostServes,
      until: now + defaultInstallMs,
      changedAt: now,
      changedBy: by,
    },
  }
}

/** Its files say a lower generation again: whoever took a commit back does not want the install that it asked for. */
function takenBack(record: InstallRecord, generation: number): InstallRecord {
  return { ...record, state: 'disarmed', changedBy: `its files, which say generation ${generation} again` }
}

/** For people who count in files alone the number is the one in their files. */
function nextGeneration(record: InstallRecord | undefined, fileGeneration: number): number {
  return Math.max((record?.generation ?? 0) + 1, fileGeneration)
}

/** Where a record stands at a moment: its limits end it without anybody writing so. */
export function installStateAt(record: InstallRecord, now: number): InstallState {
  return record.state === 'armed' && isAtItsLimit(record, now) ? 'exhausted' : record.state
}

function isAtItsLimit({ serves, mostServes, until }: InstallRecord, now: number): boolean {
  return serves >= mostServes || now >= until
}

/** What an admin says when arming; times are ms since the epoch. */
export interface Arming {
  readonly host: string
  readonly by: string
  readonly at: number
  readonly device?: string
  readonly mostServes?: number
  readonly until?: number
  readonly reason?: string
}

/**
 * An admin arms it, again or for the first time; scripts are counted anew.
 * @param generation what its settings say now: that one is covered, so that nothing is installed twice
 */
export function armInstall(
  before: InstallRecord | undefined,
  generation: number,
  { host, by, at, device, mostServes, until, reason }: Arming,
): InstallRecord {
  const fileGeneration = Math.max(before?.fileGeneration ?? 0, generation)
  return {
    host,
    source: 'admin',
    state: 'armed',
    generation: nextGeneration(before, fileGeneration),
    fileGeneration,
    ...(device === undefined ? {} : { device }),
    armedAt: at,
    armedBy: by,
    ...(reason === undefined ? {} : { reason }),
    serves: 0,
    mostServes: mostServes ?? defaultMostServes,
    until: until ?? at + defaultInstallMs,
    changedAt: at,
    changedBy: by,
  }
}

/** An install script was handed out. It is counted; it is no evidence (field case 153). */
export function installServed(record: InstallRecord): InstallRecord {
  return { ...record, serves: record.serves + 1 }
}

/** What a node told of an install script's boot. */
export interface InstallReport {
  readonly status: 'installed' | 'failed'
  readonly bootId: BootId
  readonly at: number
  readonly message?: string
}

/**
 * The node of a boot that got an install script of this very arming reports. `installed` is evidence, also where a limit
 * was reached or an admin gave up meanwhile; a failure leaves it as it is.
 */
export function installReported(
  record: InstallRecord,
  { status, bootId, at, message }: InstallReport,
): InstallRecord {
  if (status === 'failed') {
    return { ...record, failure: { at, bootId, ...(message === undefined ? {} : { message }) } }
  }
  if (record.state === 'installed') return record
  return { ...record, state: 'installed', changedAt: at, changedBy: `boot ${bootId}` }
}

/** An admin ends it: it is done, or is not to be done after all. */
export function endInstall(
  record: InstallRecord,
  { as, by, at, reason }: { as: 'installed' | 'disarmed'; by: string; at: number; reason?: string },
): InstallRecord {
  const why = reason === undefined ? {} : { reason }
  return { ...record, ...why, state: as, changedAt: at, changedBy: by }
}

/**
 * An admin's install that is over stops counting: the host boots as its settings say. The record stays, so that files
 * do not install again what it speaks for.
 */
export function releaseInstall(record: InstallRecord, { by, at }: { by: string; at: number }): InstallRecord {
  return { ...record, source: 'admin', state: 'disarmed', changedAt: at, changedBy: by }
}
