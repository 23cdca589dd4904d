import type { Clock } from '../core/clock.ts'

/** Counts what would be the same line again and again. */
export interface SameLineOften {
  /** How many more there were since the last line of this key; `undefined` when it is too early for another one. */
  count(key: string): number | undefined
}

const everyMs = 60_000
const mostKeys = 1_024

/** One line a minute for each key, with the number of those that were left out. Bounded: the oldest key is forgotten. */
export function sameLineOften(clock: Clock): SameLineOften {
  const lines = new Map<string, { toldAt: number; more: number }>()
  return {
    count(key) {
      const now = clock.now()
      const line = lines.get(key)
      if (line !== undefined && now >= line.toldAt && now - line.toldAt < everyMs) {
        line.more += 1
        return undefined
      }
      lines.delete(key)
      lines.set(key, { toldAt: now, more: 0 })
      if (lines.size > mostKeys) {
        const [oldest] = lines.keys()
        if (oldest !== undefined) lines.delete(oldest)
      }
      return line?.more ?? 0
    },
  }
}
