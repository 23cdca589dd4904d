import type { Timers } from '../../src/core/clock.ts'

export interface ManualTimers extends Timers {
  /** Moves time, runs what is due, and waits until its sockets are open. */
  advance(ms: number): Promise<void>
}

/** Timers that tests move by hand. */
export function manualTimers(): ManualTimers {
  let now = 0
  const waiting = new Set<{ readonly at: number; readonly run: () => void }>()
  return {
    after(delayMs, run) {
      const entry = { at: now + delayMs, run }
      waiting.add(entry)
      return () => waiting.delete(entry)
    },
    async advance(ms) {
      now += ms
      for (const entry of [...waiting]) {
        if (entry.at > now) continue
        waiting.delete(entry)
        entry.run()
      }
      // Whatever ran schedules its next turn when it is done.
      while (waiting.size === 0) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
