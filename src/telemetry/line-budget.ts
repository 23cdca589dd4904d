import type { Clock } from '../core/clock.ts'

/** Says which lines of a flood are written in full. */
export interface LineBudget {
  /**
   * @param key whose line it is
   * @param isKnown one of our configuration, so there are only so many of them
   */
  admits(key: string, isKnown: boolean): boolean
}

export interface LineBudgetOptions {
  readonly clock: Clock
  /** Whatever they say. */
  readonly linesPerSecond?: number
  /** Beyond those: the first ones of strangers. Whoever invents addresses must not write our log without end. */
  readonly firstsPerSecond?: number
  /** Keys that are remembered; one more, and the oldest is forgotten and may be the first again. */
  readonly mostKeys?: number
}

/** So many lines a second; beyond that the first line of each key, and of strangers only so many. */
export function createLineBudget({
  clock,
  linesPerSecond = 50,
  firstsPerSecond = 200,
  mostKeys = 16_384,
}: LineBudgetOptions): LineBudget {
  const seen = new Set<string>()
  let second = Number.NaN
  let lines = 0
  let firsts = 0

  function remember(key: string): void {
    seen.add(key)
    if (seen.size <= mostKeys) return
    const [oldest] = seen
    if (oldest !== undefined) seen.delete(oldest)
  }

  function hasRoom(isFirst: boolean, isKnown: boolean): boolean {
    if (lines < linesPerSecond) {
      lines += 1
      return true
    }
    if (!isFirst || isKnown) return isFirst
    firsts += 1
    return firsts <= firstsPerSecond
  }

  return {
    admits(key, isKnown) {
      const now = Math.floor(clock.now() / 1000)
      if (now !== second) {
        second = now
        lines = 0
        firsts = 0
      }
      const isAdmitted = hasRoom(!seen.has(key), isKnown)
      if (isAdmitted) remember(key)
      return isAdmitted
    },
  }
}
