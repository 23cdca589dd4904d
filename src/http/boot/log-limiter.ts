import type { Clock } from '../../core/clock.ts'

/** Lets each key through once in a while, so that twenty thousand equal misses are not as many lines. */
export interface LogLimiter {
  allows(key: string): boolean
}

/** Bounded: when too many keys are remembered, the oldest is forgotten (field case 84). */
export function createLogLimiter({
  clock,
  everyMs = 60_000,
  maxKeys = 4096,
}: {
  readonly clock: Clock
  readonly everyMs?: number
  readonly maxKeys?: number
}): LogLimiter {
  const lastSeen = new Map<string, number>()
  return {
    allows(key) {
      const now = clock.now()
      const last = lastSeen.get(key)
      if (last !== undefined && now - last < everyMs && now >= last) return false
      lastSeen.delete(key)
      lastSeen.set(key, now)
      if (lastSeen.size > maxKeys) {
        for (const oldest of lastSeen.keys()) {
          lastSeen.delete(oldest)
          break
        }
      }
      return true
    },
  }
}
