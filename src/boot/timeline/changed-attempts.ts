import type { KeptAttempt } from './kept-attempt.ts'

/** A few ms; more would hold up the next packet. */
export const mostHostsAtOnce = 250
const mostStrangersAtOnce = 250
/** Who says the same over and over is looked at once in this time. */
const repeatsEveryMs = 1_000

/** Attempts that changed since they were looked at last, each once. */
export interface ChangedAttempts {
  add(attempt: KeptAttempt): void
  forget(attempt: KeptAttempt): void
  /**
   * So many of them as one look may take; hosts first. Returns whether hosts are left, to be looked at soon: whoever
   * makes up machines makes only those wait.
   */
  take(now: number, look: (attempt: KeptAttempt) => void): boolean
}

export function createChangedAttempts(): ChangedAttempts {
  const hosts = new Set<KeptAttempt>()
  const strangers = new Set<KeptAttempt>()

  /** Returns whether there are more. */
  function takeOf(
    changed: Set<KeptAttempt>,
    most: number,
    now: number,
    look: (attempt: KeptAttempt) => void,
  ): boolean {
    let left = most
    for (const attempt of changed) {
      if (!attempt.hasNews && Math.abs(now - attempt.lookedAt) < repeatsEveryMs) continue
      if (left === 0) return true
      left -= 1
      changed.delete(attempt)
      attempt.isDirty = false
      attempt.hasNews = false
      attempt.lookedAt = now
      look(attempt)
    }
    return false
  }

  return {
    add(attempt) {
      if (attempt.isDirty) return
      attempt.isDirty = true
      const changed = attempt.host === undefined ? strangers : hosts
      changed.add(attempt)
    },
    forget(attempt) {
      hosts.delete(attempt)
      strangers.delete(attempt)
    },
    take(now, look) {
      const isMore = takeOf(hosts, mostHostsAtOnce, now, look)
      takeOf(strangers, mostStrangersAtOnce, now, look)
      return isMore
    },
  }
}
