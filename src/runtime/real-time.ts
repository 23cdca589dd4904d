import type { Clock, Timers } from '../core/clock.ts'

/** The machine's clock and timers; a pending timer does not keep the process alive. */
export const realClock: Clock = { now: () => Date.now() }

export const realTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
