import type { Clock, Timers } from '../../src/core/clock.ts'

/** Time that moves when a test says so; due timers run in order. */
export interface ManualTime extends Clock, Timers {
  advance(ms: number): Promise<void>
  readonly pending: number
}

export function createManualTime(startAt = 1_000_000): ManualTime {
  let now = startAt
  let timers: { readonly at: number; readonly run: () => void }[] = []
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    get pending() {
      return timers.length
    },
    async advance(ms) {
      const until = now + ms
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers = timers.filter((timer) => timer !== next)
        now = next.at
        next.run()
        await settled()
      }
      now = until
      await settled()
    },
  }
}

/** Lets promise chains run out: a turn of the event loop runs all that are ready, a few turns run what they start. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
