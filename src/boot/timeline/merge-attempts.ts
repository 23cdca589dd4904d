import type { CountedEvent } from '../../core/boot-attempt.ts'
import { appendCounted } from '../../core/boot-attempts/append-event.ts'
import { type KeptAttempt, noteCard, retrace } from './kept-attempt.ts'

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
  joinCards(attempt, joined)
  attempt.startedAt = Math.min(attempt.startedAt, joined.startedAt)
  attempt.lastAt = Math.max(attempt.lastAt, joined.lastAt)
  attempt.host ??= joined.host
  attempt.card ??= joined.card
  retrace(attempt)
}

/** The card that boots is of the one that came to a decision, else of the one that was heard last. */
function joinCards(attempt: KeptAttempt, joined: KeptAttempt): void {
  const [isDecided, isJoinedDecided] = [attempt.journey.kind !== undefined, joined.journey.kind !== undefined]
  const leads = isDecided === isJoinedDecided ? joined.lastAt >= attempt.lastAt : isJoinedDecided
  const { mac, otherMacs = [] } = joined
  const own = attempt.mac
  for (const card of mac === undefined ? otherMacs : [...otherMacs, mac])
    noteCard(attempt, card, card === mac)
  if (!leads && own !== undefined) noteCard(attempt, own, true)
}
