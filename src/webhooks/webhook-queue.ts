import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { RequestTrace } from '../core/trace-context.ts'
import type { Webhook } from '../core/webhook.ts'
import { judgeAnswer, type WebhookAnswer, type WebhookVerdict } from './judge-answer.ts'
import { mostAgeMs, retryDelayMs } from './retry-plan.ts'

export interface WebhookMessage {
  readonly id: string
  readonly type: string
  /** When it happened. */
  readonly at: number
  readonly body: string
  readonly trace?: RequestTrace
}

export type WebhookOutcome = 'delivered' | 'retried' | 'rejected' | 'expired' | 'dropped'

/** Where one webhook stands. */
export interface WebhookState {
  /**
   * `refusing`: it answers, and would not have the last message. `gone`: its receiver wants no more (410), until the
   * configuration is read again.
   */
  readonly state: 'good' | 'failing' | 'refusing' | 'gone'
  readonly waiting: number
  /** Messages that it would not have. */
  readonly refused: number
  /** Messages that were given up: for newer ones, after a day, or because it wants no more. */
  readonly dropped: number
  readonly lastDeliveredAt?: number
  /** Why the last try failed. */
  readonly problem?: string
}

export interface WebhookQueue {
  push(message: WebhookMessage): void
  state(): WebhookState
  /** What is under way is given up, what waits is gone. */
  stop(): void
}

export interface WebhookQueueOptions {
  readonly webhook: Webhook
  /** One try. Never rejects. */
  readonly send: (webhook: Webhook, message: WebhookMessage, signal: AbortSignal) => Promise<WebhookAnswer>
  readonly onOutcome: (outcome: WebhookOutcome) => void
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: Log
  /** Messages that wait; beyond it the oldest leave. */
  readonly most?: number
}

interface Waiting {
  readonly message: WebhookMessage
  /** It waits since then. */
  readonly since: number
  failures: number
  pause: Pause
}

/** Ends at `until`, and also when the clock was set back before `from`: then nobody knows how long it was. */
interface Pause {
  readonly from: number
  readonly until: number
}

const noPause: Pause = { from: 0, until: 0 }

function isPausing({ from, until }: Pause, now: number): boolean {
  return now >= from && now < until
}

const usualMost = 1_000
/** While all is well; a receiver in trouble is asked for one at a time. */
const mostAtOnce = 4

/**
 * Messages to one receiver. After a failure it is left alone for a while, ever longer, and then tried with whichever
 * message has waited for longest since its own last try, so that one that it cannot digest holds up no other. Order is
 * not promised: each message says when it happened.
 */
export function createWebhookQueue(options: WebhookQueueOptions): WebhookQueue {
  const { webhook, clock, timers, random, log, onOutcome, most = usualMost } = options
  const stopped = new AbortController()
  let waiting: Waiting[] = []
  let underWay = 0
  let failures = 0
  let pause = noPause
  let isGone = false
  let refused = 0
  let dropped = 0
  let hasToldDrops = false
  let isRefusing = false
  let lastDeliveredAt: number | undefined
  let problem: string | undefined
  let cancel: (() => void) | undefined

  function expireOld(now: number): void {
    const kept = waiting.filter(({ since }) => now - since < mostAgeMs)
    for (let index = kept.length; index < waiting.length; index += 1) lose('expired')
    waiting = kept
  }

  function lose(how: 'expired' | 'dropped'): void {
    dropped += 1
    onOutcome(how)
  }

  function start(): void {
    cancel?.()
    cancel = undefined
    if (stopped.signal.aborted || isGone) return
    const now = clock.now()
    expireOld(now)
    while (underWay < (failures === 0 ? mostAtOnce : 1) && !isPausing(pause, now)) {
      const index = waiting.findIndex((entry) => !isPausing(entry.pause, now))
      const [next] = index === -1 ? [] : waiting.splice(index, 1)
      if (next === undefined) break
      underWay += 1
      void tryOnce(next)
    }
    sleep(now)
  }

  /** Until the next one is due; whoever is under way calls `start` himself. */
  function sleep(now: number): void {
    if (waiting.length === 0 || underWay > 0) return
    const due = Math.max(pause.until, Math.min(...waiting.map((entry) => entry.pause.until)))
    // A clock that was set back must not make us wait for hours.
    const delayMs = Math.min(Math.max(1, due - now), mostAgeMs / 24)
    cancel = timers.after(delayMs, start)
  }

  async function tryOnce(entry: Waiting): Promise<void> {
    const answer = await options.send(webhook, entry.message, stopped.signal)
    underWay -= 1
    if (stopped.signal.aborted) return
    take(entry, judgeAnswer(answer, clock.now()))
    start()
  }

  function take(entry: Waiting, verdict: WebhookVerdict): void {
    switch (verdict.kind) {
      case 'delivered':
        lastDeliveredAt = clock.now()
        recovered()
        isRefusing = false
        onOutcome('delivered')
        break
      case 'rejected':
        // It answers, so the others may go on.
        recovered()
        problem = verdict.why
        tellRejection(entry.message.type, verdict.why)
        refused += 1
        onOutcome('rejected')
        break
      case 'gone':
        end()
        refused += 1
        onOutcome('rejected')
        break
      case 'later':
        postpone(entry, verdict)
        break
    }
  }

  function postpone(entry: Waiting, { why, waitMs }: Extract<WebhookVerdict, { kind: 'later' }>): void {
    const now = clock.now()
    problem = why
    failures += 1
    entry.failures += 1
    pause = { from: now, until: now + retryDelayMs(failures, random(), waitMs) }
    entry.pause = { from: now, until: now + retryDelayMs(entry.failures, random(), waitMs) }
    if (failures === 1) log.warn({ webhook: webhook.name, why }, 'webhook not reached, it is tried again')
    if (entry.pause.until - entry.since >= mostAgeMs) {
      lose('expired')
      return
    }
    waiting.push(entry)
    onOutcome('retried')
    makeRoom()
  }

  function end(): void {
    if (isGone) return
    isGone = true
    problem = 'status 410'
    for (const _ of waiting) lose('dropped')
    waiting = []
    log.warn({ webhook: webhook.name }, 'webhook wants no more: it is told nothing until a reload')
  }

  /** Once, until it takes something: a receiver whose secret is another one refuses everything. */
  function tellRejection(type: string, why: string): void {
    if (!isRefusing) log.warn({ webhook: webhook.name, type, why }, 'webhook refused a message')
    isRefusing = true
  }

  function recovered(): void {
    if (failures > 0) log.info({ webhook: webhook.name, waiting: waiting.length }, 'webhook reached again')
    failures = 0
    pause = noPause
    hasToldDrops = false
    problem = undefined
  }

  function makeRoom(): void {
    while (waiting.length > most) {
      waiting.shift()
      lose('dropped')
      if (!hasToldDrops) {
        log.warn(
          { webhook: webhook.name, waiting: most },
          'webhook is too slow: the oldest messages are dropped',
        )
      }
      hasToldDrops = true
    }
  }

  function stateNow(): WebhookState['state'] {
    if (isGone) return 'gone'
    if (failures > 0) return 'failing'
    return isRefusing ? 'refusing' : 'good'
  }

  return {
    push(message) {
      if (isGone || stopped.signal.aborted) return
      waiting.push({ message, since: clock.now(), failures: 0, pause: noPause })
      makeRoom()
      start()
    },
    state: () => ({
      state: stateNow(),
      waiting: waiting.length + underWay,
      refused,
      dropped,
      ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
      ...(problem !== undefined && { problem }),
    }),
    stop() {
      stopped.abort()
      cancel?.()
      waiting = []
    },
  }
}
