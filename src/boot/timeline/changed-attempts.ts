import type { KeptAttempt } from './kept-attempt.ts'

/** Two looks in one second are enough for all of a hall; more would hold up the next packet. */
export const mostHostsAtOnce = 2_000
const mostStrangersAtOnce = 500

/** Attempts that changed since they were looked at last, each once. */
export interface ChangedAttempts {
  add(attempt: KeptAttempt): void
  forget(attempt: KeptAttempt): void
  /** So many of them as one look may take; hosts first: whoever makes up machines makes only those wait. */
  take(look: (attempt: KeptAttempt) => void): void
}

export function createChangedAttempts(): ChangedAttempts {
  const hosts = new Set<KeptAttempt>()
  const strangers = new Set<KeptAttempt>()

  function takeOf(changed: Set<KeptAttempt>, most: number, look: (attempt: KeptAttempt) => void): void {
    let left = most
    for (const attempt of changed) {
      if (left === 0) return
      left -= 1
      changed.delete(attempt)
      attempt.isDirty = false
      look(attempt)
    }
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
    take(look) {
      takeOf(hosts, mostHostsAtOnce, look)
      takeOf(strangers, mostStrangersAtOnce, look)
    },
  }
}
