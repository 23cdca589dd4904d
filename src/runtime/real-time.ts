import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock, Timers } from '../core/clock.ts'

/** What comes later belongs to no request, though a request may have asked for it. */
const outsideOfRequests = AsyncLocalStorage.snapshot()

/** The machine's clock and timers; a pending timer does not keep the process alive. */
export const realClock: Clock = { now: () => Date.now() }

export const realTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(() => outsideOfRequests(run), delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
