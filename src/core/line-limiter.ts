import type { Clock } from './clock.ts'

/** Keeps what repeats itself from filling a log: one line in a while for each key, and so many for all keys together. */
export interface LineLimiter {
  /**
   * How many lines were left out since the last one: of this key, and of all keys together when there were too many.
   * `undefined` when this one is to be left out too.
   * @param key absent: a line that repeats nothing, and is only one too many when all together are
   * @param isUrgent written even when all keys together have had their share
   */
  admit(key: string | undefined, isUrgent?: boolean): number | undefined
}

export interface LineLimiterOptions {
  readonly clock: Clock
  readonly everyMs?: number
  /** Of all keys together in that time: whoever invents addresses and names must not write our log. */
  readonly mostLines: number
  readonly mostKeys?: number
}

/** Bounded: when too many keys are remembered, the oldest is forgotten (field cases 84, 165). */
export function createLineLimiter({
  clock,
  everyMs = 60_000,
  mostLines,
  mostKeys = 4096,
}: LineLimiterOptions): LineLimiter {
  const quiet = new Map<string, { readonly until: number; suppressed: number }>()
  let span = { until: 0, lines: 0 }
  let leftOut = 0

  /** Of a clock that was set back it is not: it would mute a line for as long. */
  function isBefore(now: number, until: number): boolean {
    return now < until && until - now <= everyMs
  }

  function remember(key: string, until: number): void {
    quiet.delete(key)
    if (quiet.size >= mostKeys) {
      const [oldest] = quiet.keys()
      if (oldest !== undefined) quiet.delete(oldest)
    }
    quiet.set(key, { until, suppressed: 0 })
  }

  return {
    admit(key, isUrgent = false) {
      const now = clock.now()
      const known = key === undefined ? undefined : quiet.get(key)
      if (known !== undefined && isBefore(now, known.until)) {
        known.suppressed += 1
        return undefined
      }
      if (!isBefore(now, span.until)) span = { until: now + everyMs, lines: 0 }
      span.lines += 1
      if (span.lines > mostLines && !isUrgent) {
        leftOut += 1
        return undefined
      }
      if (key !== undefined) remember(key, now + everyMs)
      const suppressed = (known?.suppressed ?? 0) + leftOut
      leftOut = 0
      return suppressed
    },
  }
}
