import type { CountedEvent } from '../../core/boot-attempt.ts'
import { appendCounted } from '../../core/boot-attempts/append-event.ts'
import { type KeptAttempt, retrace } from './kept-attempt.ts'

/**
 * Puts the events of `joined` among those of `attempt`, by their times: what was seen as two boots is one, of a machine
 * with two cards or one whose card became known late.
 */
export function mergeAttempts(attempt: KeptAttempt, joined: KeptAttempt, mostEvents: number): void {
  const entries = [...attempt.events, ...joined.events].sort((a, b) => a.event.at - b.event.at)
  const events: CountedEvent[] = []
  for (const entry of entries) attempt.leftOut += appendCounted(events, entry, mostEvents)
  attempt.events = events
  attempt.leftOut += joined.leftOut
  attempt.startedAt = Math.min(attempt.startedAt, joined.startedAt)
  attempt.lastAt = Math.max(attempt.lastAt, joined.lastAt)
  attempt.mac ??= joined.mac
  attempt.host ??= joined.host
  attempt.card ??= joined.card
  retrace(attempt)
}
