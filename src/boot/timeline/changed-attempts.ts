import type { KeptAttempt } from './kept-attempt.ts'

/** A few ms; more would hold up the next packet. */
export const mostHostsAtOnce = 250
const mostStrangersAtOnce = 250

/** Attempts that changed since they were looked at last, each once. */
export interface ChangedAttempts {
  add(attempt: KeptAttempt): void
  forget(attempt: KeptAttempt): void
  /**
   * So many of them as one look may take; hosts first. Returns whether hosts are left, to be looked at soon: whoever
   * makes up machines makes only those wait.
   */
  take(look: (attempt: KeptAttempt) => void): boolean
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
      return hosts.size > 0
    },
  }
}
