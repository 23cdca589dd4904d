import type { TransferEndpoint } from './endpoint.ts'
import type { TransferFigures } from './event.ts'
import type { FramedImage } from './frame-cache.ts'
import type { FramedRun } from './framed-image.ts'
import { encodeError, type TftpError, type TftpPacket } from './packet.ts'
import {
  advanceTransfer,
  openTransfer,
  type TransferAction,
  type TransferEvent,
  type TransferOutcome,
  type TransferPlan,
  type TransferState,
  type TransferStep,
} from './transfer.ts'

export interface TransferEnd {
  readonly outcome: TransferOutcome
  readonly figures: TransferFigures
  readonly clientError?: { readonly code: number; readonly message: string }
  readonly cause?: unknown
}

export interface TransferSessionOptions {
  readonly plan: TransferPlan
  readonly image: FramedImage
  /** Encoded; absent: the first block is the first answer. */
  readonly oack?: Buffer
  readonly endpoint: TransferEndpoint
  /** Monotonic milliseconds. */
  now(): number
  /** The first sign that somebody is at the client's port. */
  onHeard(): void
  /** It wants the file, not only to know its size: the first acknowledgement came. */
  onStarted(): void
  /** At most once a second, while acknowledgements come. */
  onProgress(deliveredBytes: number): void
  onEnd(end: TransferEnd): void
}

/** One transfer: carries out what the state machine says, with one timer. */
export interface TransferSession {
  readonly phase: TransferState['phase']
  readonly lastHeardAt: number
  receive(packet: TftpPacket): void
  handle(event: TransferEvent): void
}

/** Between two tellings of how far it has come. */
const progressMs = 1_000

/** A disk that gives nothing for so long gives nothing. */
const readPatienceMs = 30_000

export function startTransferSession(options: TransferSessionOptions): TransferSession {
  const { plan, image, oack, endpoint, now, onHeard, onStarted, onProgress, onEnd } = options
  const { layout } = image
  const opened = openTransfer(plan, now())
  let state = opened.state
  let lastHeardAt = state.openedAt
  let isHeard = false
  /** When something of it was told last; absent before its start. */
  let toldAt: number | undefined
  let clientError: TransferEnd['clientError']
  let cause: unknown

  let timer: NodeJS.Timeout | undefined
  let timerMs = 0
  let waits = 0
  /** Counts send orders, so that a reading that comes too late for its order sends nothing. */
  let sendings = 0
  let isReading = false

  function wait(delayMs: number): void {
    waits += 1
    if (timer !== undefined && delayMs === timerMs) {
      timer.refresh()
      return
    }
    clearTimeout(timer)
    timerMs = delayMs
    timer = setTimeout(onTimer, delayMs)
  }

  /**
   * After a long turn of the event loop timers run before the packets that have come meanwhile. So look at those first,
   * or everything would be sent twice whenever the process was busy.
   */
  function onTimer(): void {
    const waited = waits
    setImmediate(() => {
      if (waits === waited && state.phase !== 'ended') onTimeout()
    })
  }

  function onTimeout(): void {
    if (isReading) {
      cause = new Error(`nothing could be read for ${readPatienceMs} ms`)
      handle({ type: 'read-failed' })
      return
    }
    handle({ type: 'timeout' })
  }

  function sendRun(run: FramedRun, first: number, last: number): void {
    const offset = (first - run.firstBlock) * run.stride
    const end = last === run.lastBlock ? run.bytes.length : (last - run.firstBlock + 1) * run.stride
    endpoint.sendRun(run.bytes, offset, end - offset, run.stride)
  }

  /** Sends blocks `first` to `last`; what is not in memory is read first, and `waitMs` counts from when all is sent. */
  function sendBlocks(first: number, last: number, waitMs: number): void {
    sendings += 1
    const order = sendings
    let next = first
    const at = now()
    while (next <= last) {
      const run = image.runNow(next, last, at)
      if (run === undefined) {
        readThenSend(order, next, last, waitMs)
        return
      }
      const until = Math.min(last, run.lastBlock)
      sendRun(run, next, until)
      next = until + 1
    }
    isReading = false
    image.readAhead(last, at)
    wait(waitMs)
  }

  function readThenSend(order: number, first: number, last: number, waitMs: number): void {
    isReading = true
    wait(readPatienceMs)
    image.load(first, last, now()).then(
      (run) => {
        if (order !== sendings || state.phase === 'ended') return
        const until = Math.min(last, run.lastBlock)
        sendRun(run, first, until)
        if (until < last) {
          sendBlocks(until + 1, last, waitMs)
          return
        }
        isReading = false
        wait(waitMs)
      },
      (error: unknown) => {
        if (order !== sendings || state.phase === 'ended') return
        cause = error
        handle({ type: 'read-failed' })
      },
    )
  }

  function deliveredBytes(): number {
    return Math.min(state.acknowledged * layout.blockSize, layout.sizeBytes)
  }

  function onAcknowledged(block: number): void {
    if (toldAt === undefined) {
      toldAt = lastHeardAt
      onStarted()
    }
    handle({ type: 'ack', block })
    if (state.phase === 'ended' || lastHeardAt - toldAt < progressMs) return
    toldAt = lastHeardAt
    onProgress(deliveredBytes())
  }

  function figures(): TransferFigures {
    return {
      sizeBytes: layout.sizeBytes,
      deliveredBytes: deliveredBytes(),
      blockSize: layout.blockSize,
      windowSize: plan.windowSize,
      repeatedBlocks: state.repeatedBlocks,
      durationMs: now() - state.openedAt,
    }
  }

  function end(outcome: TransferOutcome, error: TftpError | undefined): void {
    clearTimeout(timer)
    if (error !== undefined) endpoint.send(encodeError(error))
    endpoint.close()
    onEnd({
      outcome,
      figures: figures(),
      ...(clientError === undefined ? {} : { clientError }),
      ...(cause === undefined ? {} : { cause }),
    })
  }

  function perform(action: TransferAction, waitMs = timerMs): void {
    switch (action.type) {
      case 'send-blocks':
        sendBlocks(action.first, action.first + action.count - 1, waitMs)
        return
      case 'send-oack':
        if (oack !== undefined) endpoint.send(oack)
        wait(waitMs)
        return
      case 'wait':
        wait(waitMs)
        return
      case 'end':
        end(action.outcome, action.error)
        return
      case 'none':
        return
    }
  }

  function take(step: TransferStep): void {
    state = step.state
    perform(step.action, step.waitMs)
  }

  function handle(event: TransferEvent): void {
    take(advanceTransfer(plan, state, event, now()))
  }

  function receive(packet: TftpPacket): void {
    if (state.phase === 'ended' || packet.kind === 'refused') return
    lastHeardAt = now()
    if (!isHeard) {
      isHeard = true
      onHeard()
    }
    switch (packet.kind) {
      case 'ack':
        onAcknowledged(packet.block)
        return
      case 'error':
        clientError = { code: packet.code, message: packet.message }
        handle({ type: 'error', code: packet.code, message: packet.message })
        return
      default:
        handle({ type: 'unexpected' })
    }
  }

  take(opened)
  return {
    get phase() {
      return state.phase
    },
    get lastHeardAt() {
      return lastHeardAt
    },
    receive,
    handle,
  }
}
