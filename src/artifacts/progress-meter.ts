/** At most four reports a second: enough for a line on a terminal, nothing for the event loop. */
const reportEveryMs = 250

export interface ProgressMeter {
  /** The rate to report now, or `undefined` when the last report is too recent. */
  advance(doneBytes: number, now: number): number | undefined
}

/** Turns byte counts into rates that do not jump about. Pure: the clock is the caller's. */
export function createProgressMeter(startBytes: number, startedAt: number): ProgressMeter {
  let lastBytes = startBytes
  let lastAt = startedAt
  let rate: number | undefined
  return {
    advance(doneBytes, now) {
      const elapsedMs = now - lastAt
      if (elapsedMs < reportEveryMs) return undefined
      const current = ((doneBytes - lastBytes) * 1000) / elapsedMs
      rate = rate === undefined ? current : rate * 0.7 + current * 0.3
      lastBytes = doneBytes
      lastAt = now
      return Math.round(rate)
    },
  }
}
