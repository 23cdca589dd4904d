import { type BlockWrap, blockFromWire } from './block-number.ts'
import { errorCodes, type TftpError } from './packet.ts'
import { backedOff, createRetransmitTimer, type RetransmitTimer, withRoundTrip } from './retransmit-timer.ts'

/** What stays the same for the whole of one transfer. */
export interface TransferPlan {
  readonly blockCount: number
  readonly windowSize: number
  /** Whether the first answer is an OACK, to be acknowledged with block 0, rather than block 1. */
  readonly hasOack: boolean
  readonly wrap: BlockWrap
  /** The client's `timeout` option. */
  readonly clientTimeoutMs?: number
}

/** Blocks are counted from 1 without end; all times are of one monotonic clock, in milliseconds. */
export interface TransferState {
  /** `opening`: nothing has been heard from the client's port yet, which may be somebody else's invention. */
  readonly phase: 'opening' | 'sending' | 'ended'
  readonly acknowledged: number
  /** The last block of the window that is under way. */
  readonly sent: number
  readonly highestSent: number
  /** The first block of the window under way that had not been sent in an earlier one. */
  readonly freshFrom: number
  readonly openedAt: number
  readonly sentAt: number
  /** Set while the window under way can give a round trip: none of its last block's copies was sent before (Karn). */
  readonly isMeasurable: boolean
  /** Repetitions of the window under way. */
  readonly repeats: number
  readonly repeatedBlocks: number
  readonly timer: RetransmitTimer
}

export type TransferEvent =
  | { readonly type: 'ack'; readonly block: number }
  | { readonly type: 'error'; readonly code: number; readonly message: string }
  | { readonly type: 'timeout' }
  /** The same request again, from the same address and port. */
  | { readonly type: 'request-repeated' }
  /** A packet that a reading client has no reason to send. */
  | { readonly type: 'unexpected' }
  /** The network says that nobody listens on the client's port any more. */
  | { readonly type: 'port-closed' }
  /** The file turned out not to be readable. */
  | { readonly type: 'read-failed' }
  /** This side ends it: the server stops, a new request took its place, or room is needed. */
  | { readonly type: 'cancelled'; readonly tellsClient: boolean }

export type TransferOutcome =
  /** Every block acknowledged. */
  | 'served'
  /** Every block but the last window acknowledged; ROMs start what they have without another word. */
  | 'served-unconfirmed'
  /** The client ended it, which is normal after a look at the size (field case 60). */
  | 'aborted'
  | 'unanswered'
  | 'stalled'
  | 'read-failed'
  | 'client-confused'
  | 'cancelled'

export type TransferAction =
  | { readonly type: 'none' }
  /** Nothing to send, but another time to wait. */
  | { readonly type: 'wait' }
  | { readonly type: 'send-oack' }
  | { readonly type: 'send-blocks'; readonly first: number; readonly count: number }
  | { readonly type: 'end'; readonly outcome: TransferOutcome; readonly error?: TftpError }

export interface TransferStep {
  readonly state: TransferState
  readonly action: TransferAction
  /** The time to `timeout`, from when all is sent; absent: the wait under way goes on. */
  readonly waitMs?: number
}

/**
 * Somebody who never answers gets the first answer and these repetitions, then silence and one ERROR: a forged request
 * must not make us shout at its victim. OACKs are small; a block of 512 bytes is not.
 */
const mostOpeningRepeats = { oack: 4, data: 2 } as const
const openingPatienceMs = 10_000
/** 100 ms doubling to 5 s: about 35 s of silence. */
const mostRepeats = 12
/** Of the end of the file, about ten seconds: it is likelier that the machine has gone on with what it has. */
const mostLastRepeats = 6
/** With the client's own interval: as many as fill this time, but some in any case. */
const fixedPatienceMs = 30_000
const leastFixedRepeats = 5

const nothing: TransferAction = { type: 'none' }

function ended(state: TransferState, outcome: TransferOutcome, error?: TftpError): TransferStep {
  const action: TransferAction =
    error === undefined ? { type: 'end', outcome } : { type: 'end', outcome, error }
  return { state: { ...state, phase: 'ended' }, action }
}

/** How long to wait after sending while the client has not been heard: its interval, within our patience. */
function openingWaitMs(state: TransferState, repeats: number, most: number, nowMs: number): number {
  const remainingMs = Math.max(state.openedAt + openingPatienceMs - nowMs, 0)
  return repeats >= most ? remainingMs : Math.min(state.timer.timeoutMs, remainingMs)
}

function firstAnswer(plan: TransferPlan): TransferAction {
  return plan.hasOack ? { type: 'send-oack' } : { type: 'send-blocks', first: 1, count: 1 }
}

/** Opens a transfer: the first answer, an OACK or the first block. */
export function openTransfer(plan: TransferPlan, nowMs: number): TransferStep {
  const sent = plan.hasOack ? 0 : 1
  const state: TransferState = {
    phase: 'opening',
    acknowledged: 0,
    sent,
    highestSent: sent,
    freshFrom: sent,
    openedAt: nowMs,
    sentAt: nowMs,
    isMeasurable: true,
    repeats: 0,
    repeatedBlocks: 0,
    timer: createRetransmitTimer(plan.clientTimeoutMs),
  }
  const waitMs = openingWaitMs(state, 0, mostOpeningRepeats.oack, nowMs)
  return { state, action: firstAnswer(plan), waitMs }
}

/** What an acknowledgement or a timeout changes before the next window goes out. */
interface Progress {
  readonly acknowledged: number
  readonly repeats: number
  readonly timer: RetransmitTimer
}

/**
 * The window after `acknowledged`, whether its blocks were sent before or not. After a timeout nothing of what was sent
 * before is believed to be on its way. This runs for each acknowledgement: a state written out in full is several times
 * cheaper than a spread one.
 */
function sendWindow(
  plan: TransferPlan,
  state: TransferState,
  { acknowledged, repeats, timer }: Progress,
  nowMs: number,
  isAfterTimeout: boolean,
): TransferStep {
  const { highestSent } = state
  const first = acknowledged + 1
  const sent = Math.min(acknowledged + plan.windowSize, plan.blockCount)
  const next: TransferState = {
    phase: 'sending',
    acknowledged,
    sent,
    highestSent: Math.max(sent, highestSent),
    freshFrom: isAfterTimeout ? first : Math.max(first, highestSent + 1),
    openedAt: state.openedAt,
    sentAt: nowMs,
    isMeasurable: sent > highestSent,
    repeats,
    repeatedBlocks: state.repeatedBlocks + Math.max(Math.min(highestSent, sent) - first + 1, 0),
    timer,
  }
  return {
    state: next,
    action: { type: 'send-blocks', first, count: sent - first + 1 },
    waitMs: timer.timeoutMs,
  }
}

/** What the window has room for and was not sent yet. */
function extendWindow(
  plan: TransferPlan,
  state: TransferState,
  progress: Progress,
  nowMs: number,
): TransferStep {
  const first = state.sent + 1
  const sent = Math.min(progress.acknowledged + plan.windowSize, plan.blockCount)
  const waitMs = progress.timer.timeoutMs
  if (sent < first) return { state: { ...state, ...progress }, action: { type: 'wait' }, waitMs }
  const next: TransferState = {
    ...state,
    ...progress,
    sent,
    highestSent: Math.max(sent, state.highestSent),
    sentAt: nowMs,
    isMeasurable: sent > state.highestSent,
  }
  return { state: next, action: { type: 'send-blocks', first, count: sent - first + 1 }, waitMs }
}

/**
 * An acknowledgement moves the transfer on only where it says something new: a duplicate sends nothing (RFC 1123
 * §4.2.3.1, field case 69). One within the window means that what follows it was lost, so the next window starts there
 * at once (RFC 7440 §4); unless it names a block that went out twice. Clients answer second copies with what they have
 * (EDK2 does), and to go back for that would double everything to the end: the sorcerer's apprentice with windows.
 */
function onAck(plan: TransferPlan, state: TransferState, wire: number, nowMs: number): TransferStep {
  const opensAfterOack = state.phase === 'opening' && plan.hasOack
  const block =
    opensAfterOack && wire === 0 ? 0 : blockFromWire(wire, state.acknowledged, state.sent, plan.wrap)
  if (block === undefined || (block === state.acknowledged && !opensAfterOack))
    return { state, action: nothing }
  if (block >= plan.blockCount) return ended({ ...state, acknowledged: block }, 'served')
  const isWholeWindow = block === state.sent
  const timer =
    isWholeWindow && state.isMeasurable ? withRoundTrip(state.timer, nowMs - state.sentAt) : state.timer
  const progress: Progress = { acknowledged: block, repeats: 0, timer }
  return block < state.freshFrom
    ? extendWindow(plan, state, progress, nowMs)
    : sendWindow(plan, state, progress, nowMs, false)
}

/** All that is left unacknowledged is the end of the file. */
function isInLastWindow(plan: TransferPlan, state: TransferState): boolean {
  return state.phase === 'sending' && state.highestSent >= plan.blockCount
}

function repeatLimit(plan: TransferPlan, state: TransferState): number {
  const { timer } = state
  if (timer.isFixed) return Math.max(Math.ceil(fixedPatienceMs / timer.timeoutMs), leastFixedRepeats)
  return isInLastWindow(plan, state) ? mostLastRepeats : mostRepeats
}

function onOpeningTimeout(plan: TransferPlan, state: TransferState, nowMs: number): TransferStep {
  if (nowMs - state.openedAt >= openingPatienceMs) {
    return ended(state, 'unanswered', { code: errorCodes.undefined, message: 'no answer from the client' })
  }
  const most = mostOpeningRepeats[plan.hasOack ? 'oack' : 'data']
  if (state.repeats >= most)
    return { state, action: { type: 'wait' }, waitMs: openingWaitMs(state, most, most, nowMs) }
  const repeats = state.repeats + 1
  const next = { ...state, repeats, isMeasurable: false, timer: backedOff(state.timer) }
  return { state: next, action: firstAnswer(plan), waitMs: openingWaitMs(next, repeats, most, nowMs) }
}

function onTimeout(plan: TransferPlan, state: TransferState, nowMs: number): TransferStep {
  if (state.phase === 'opening') return onOpeningTimeout(plan, state, nowMs)
  if (state.repeats >= repeatLimit(plan, state)) {
    const outcome = isInLastWindow(plan, state) ? 'served-unconfirmed' : 'stalled'
    return ended(state, outcome, {
      code: errorCodes.undefined,
      message: 'no acknowledgement from the client',
    })
  }
  const { acknowledged, repeats, timer } = state
  return sendWindow(plan, state, { acknowledged, repeats: repeats + 1, timer: backedOff(timer) }, nowMs, true)
}

/** A repeated request gets the first answer again as long as the client cannot have had it (field case 70). */
function onRepeatedRequest(plan: TransferPlan, state: TransferState, nowMs: number): TransferStep {
  if (state.phase !== 'opening') return { state, action: nothing }
  const most = mostOpeningRepeats[plan.hasOack ? 'oack' : 'data']
  const waitMs = openingWaitMs(state, state.repeats, most, nowMs)
  return { state: { ...state, isMeasurable: false }, action: firstAnswer(plan), waitMs }
}

/** What a packet gets that belongs to no transfer (RFC 1350 §4); it never reaches a transfer, so it cannot harm one. */
export const strangerError: TftpError = { code: errorCodes.unknownTransfer, message: 'unknown transfer' }

/**
 * The sending side of one transfer, as a function of what happens. No clock, no socket: the caller carries out the
 * action and tells of a timeout when `waitMs` has passed. After `end` every event is answered with nothing.
 */
export function advanceTransfer(
  plan: TransferPlan,
  state: TransferState,
  event: TransferEvent,
  nowMs: number,
): TransferStep {
  if (state.phase === 'ended') return { state, action: nothing }
  switch (event.type) {
    case 'ack':
      return onAck(plan, state, event.block, nowMs)
    case 'timeout':
      return onTimeout(plan, state, nowMs)
    case 'request-repeated':
      return onRepeatedRequest(plan, state, nowMs)
    case 'error':
      return ended(state, 'aborted')
    case 'port-closed':
      return ended(state, isInLastWindow(plan, state) ? 'served-unconfirmed' : 'aborted')
    case 'unexpected':
      return ended(state, 'client-confused', {
        code: errorCodes.illegalOperation,
        message: 'only acknowledgements are expected here',
      })
    case 'read-failed':
      return ended(state, 'read-failed', {
        code: errorCodes.undefined,
        message: 'the file could not be read',
      })
    case 'cancelled':
      return event.tellsClient
        ? ended(state, 'cancelled', { code: errorCodes.undefined, message: 'the server ended the transfer' })
        : ended(state, 'cancelled')
  }
}
