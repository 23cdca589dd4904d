import type { AttemptOutcome } from '../boot-attempt.ts'
import type { BootEvent, DhcpQuestion } from '../boot-event.ts'
import { fileRoleOf } from './file-role.ts'
import { type Journey, reached } from './journey.ts'

/** The newest attempt of a machine, as far as the next event is concerned. */
export interface AttemptBefore {
  readonly journey: Readonly<Journey>
  /** Of one that is over. */
  readonly outcome?: AttemptOutcome
  /** Since its last sign of life; 0 where the clock went back. */
  readonly gapMs: number
  /** The event comes from another card of the same host. */
  readonly isOtherCard?: boolean
}

const seconds = 1000
const minutes = 60 * seconds

/** A machine that was silent for this long has begun anew, whatever it did before. */
export const longestSilenceMs = 2 * 60 * minutes
/** Before there is a script: whoever fetches nothing for this long was switched off, or booted something else. */
const longestPauseMs = 10 * minutes
/** Firmware that got no further goes through its boot entries: other card, other protocol. */
const nextEntryMs = 3 * minutes
/** The same entry once more, this soon after it was given a loader, is a retry; later, its machine was started again. */
const sameEntryMs = 30 * seconds
/** The scripts try again at least once a minute. */
const longestRetryMs = 5 * minutes
/** A boot command that failed is tried four times before it is asked anew what to boot. */
const failedBootMs = 2 * minutes

/**
 * Whether an event that names no known boot id begins another boot of its machine. What follows from the answer stands
 * in the table of its test; the rules are about what machines do, not about what could be told apart.
 */
export function beginsAnew(before: AttemptBefore, event: BootEvent): boolean {
  const { journey, outcome, gapMs } = before
  if (event.type === 'dhcp-troubled') return false
  if (outcome !== undefined) return !isAftermath(before, event)
  if (gapMs > longestSilenceMs) return true
  if (journey.level < reached.script && gapMs > longestPauseMs) return true
  switch (event.type) {
    case 'dhcp-answered':
    case 'dhcp-unanswered':
      return asksAnew(before, event.asked)
    case 'entry-sent':
      return !isRetry(before)
    case 'decided':
      return !isRetry(before) && !(journey.kind === 'wait' && event.kind === 'wait')
    case 'tftp-started':
    case 'tftp-ended':
    case 'artifact-sent':
    case 'artifact-progress':
      return fileRoleOf(event) === 'loader' && fetchesLoaderAnew(before)
    default:
      return false
  }
}

function asksAnew({ journey, gapMs, isOtherCard }: AttemptBefore, asked: DhcpQuestion | undefined): boolean {
  // Told without the question: what an older record has.
  if (asked === undefined) return journey.level >= reached.kernel
  if (asked.stage !== 'firmware') return loaderAsksAnew({ journey, gapMs })
  // A packet of the same run, late.
  if (asked.xid === journey.xid && journey.level < reached.files) return false
  if (journey.level >= reached.script) return true
  if (journey.loaders === 0) return false
  const isSameEntry = asked.via === journey.via && isOtherCard !== true
  return gapMs > (isSameEntry ? sameEntryMs : nextEntryMs)
}

/**
 * A chainloaded iPXE asks for its own address, and its scripts do so again when the network fails. One that is itself
 * the firmware begins a boot by that, where the last one left for its kernel.
 */
function loaderAsksAnew({ journey, gapMs }: AttemptBefore): boolean {
  if (journey.level >= reached.kernel) return true
  if (journey.kind === 'hold') return true
  return journey.level >= reached.script && gapMs > longestRetryMs && journey.kind !== 'wait'
}

function isRetry({ journey, gapMs }: AttemptBefore): boolean {
  if (journey.level < reached.script) return true
  if (journey.level === reached.system) return false
  if (journey.level === reached.kernel) return gapMs <= failedBootMs
  return gapMs <= longestPauseMs
}

function fetchesLoaderAnew({ journey, gapMs }: AttemptBefore): boolean {
  if (journey.level < reached.script || journey.kind === 'chainload') return false
  // shim fetches GRUB, GRUB its own modules; firmware that nobody heard ask is back after its machine was started.
  return journey.level >= reached.kernel || gapMs > nextEntryMs
}

/**
 * Firmware that was sent to its disk goes through the network entries that it has left, which nobody needs to see as
 * boots. The same entry again is one: it came back.
 */
function isAftermath(before: AttemptBefore, event: BootEvent): boolean {
  const { journey, outcome, gapMs, isOtherCard } = before
  if (outcome !== 'local' || gapMs > nextEntryMs) return false
  if (event.type === 'dhcp-unanswered') return true
  if (event.type !== 'dhcp-answered' || event.asked?.stage !== 'firmware') return false
  return isOtherCard === true || (journey.via !== undefined && event.asked.via !== journey.via)
}

/** Whether an event of a machine without a boot begins one. What is only seen beside a boot does not. */
export function canBegin(event: BootEvent): boolean {
  switch (event.type) {
    case 'dhcp-answered':
      return event.decision !== 'ignore'
    case 'decided':
    case 'entry-sent':
    case 'tftp-started':
    case 'tftp-ended':
    case 'tftp-refused':
    case 'ignition-sent':
    case 'reported':
      return true
    case 'artifact-progress':
      return event.role === 'loader'
    case 'artifact-sent':
      // A look mints nothing.
      return event.role === 'loader' && event.method === 'GET' && event.status < 300
    default:
      return false
  }
}
