import type { AttemptId, BootAttempt, Diagnosis } from '../../core/boot-attempt.ts'
import { appendEvent } from '../../core/boot-attempts/append-event.ts'
import type { AttemptFacts } from '../../core/boot-attempts/attempt-facts.ts'
import { gatherFacts } from '../../core/boot-attempts/gather-facts.ts'
import { defaultLimits } from '../../core/boot-attempts/phase-limits.ts'
import { attemptOf } from '../../core/boot-attempts/reduce-attempt.ts'
import { type Standing, standingOf } from '../../core/boot-attempts/standing.ts'
import { looksAfterMs, recognise } from '../../core/boot-patterns/patterns.ts'
import type { AddressServers } from './address-servers.ts'
import type { AttemptShelf } from './attempt-shelf.ts'
import { earlierBootOf, type KeptAttempt } from './kept-attempt.ts'
import { limitsOf } from './machines.ts'
import type { TimelineListeners } from './timeline.ts'

interface Moment {
  readonly now: number
  /** Since when machines can be heard at all. */
  readonly hearingSince: number
}

/** Boots of the same machine that patterns look back at. */
const mostBefore = 8

/** Finds out where attempts stand, tells what changed, and says when to look again. */
export function createExaminer({
  shelf,
  addressServers,
  due,
  listeners,
  mostEvents,
}: {
  readonly shelf: Pick<AttemptShelf, 'changed' | 'ended'>
  readonly addressServers: Pick<AddressServers, 'seenBeside'>
  readonly due: { add(attempt: KeptAttempt, at: number): void }
  readonly listeners: TimelineListeners
  readonly mostEvents: number
}) {
  function standing(attempt: KeptAttempt, facts: AttemptFacts, { now, hearingSince }: Moment): Standing {
    const limits = attempt.machine === undefined ? defaultLimits : limitsOf(attempt.machine)
    return standingOf(facts, attempt, { now, limits, hearingSince })
  }

  function diagnose(
    attempt: KeptAttempt,
    facts: AttemptFacts,
    { state, outcome, quietMs, limitMs }: Standing,
    now: number,
  ): Diagnosis | undefined {
    // What ended without a word ended with what was wrong with it.
    if (outcome === 'lost' || outcome === 'superseded') return attempt.diagnosis
    const { machine, host, mac } = attempt
    const found = recognise(facts, {
      name: host ?? mac ?? facts.address ?? 'this machine',
      mac,
      isOver: state === 'over',
      quietMs,
      limitMs,
      get before() {
        const boots = machine?.attempts.filter(
          (other) => other !== attempt && other.startedAt <= attempt.startedAt,
        )
        return (boots ?? []).slice(-mostBefore).reverse().map(earlierBootOf)
      },
      addressServer: addressServers.seenBeside(mac, now),
    })
    // As it was told first; that it has lasted longer by now is seen from its time.
    return found?.code === attempt.diagnosis?.code ? attempt.diagnosis : found
  }

  function tell(attempt: KeptAttempt, reduced: BootAttempt, isNews: boolean): void {
    if (isNews) listeners.onChange?.(attempt.id as AttemptId)
    const { diagnosis } = reduced
    if (diagnosis !== undefined && !attempt.told.includes(diagnosis.code)) {
      attempt.told = [...attempt.told, diagnosis.code]
      listeners.onDiagnosis?.(reduced, diagnosis)
    }
    if (reduced.outcome !== undefined && !attempt.isOverTold) {
      attempt.isOverTold = true
      listeners.onOver?.(reduced)
    }
  }

  function schedule(attempt: KeptAttempt, { state, quietMs, dueAt }: Standing, now: number): void {
    attempt.dueAt = Number.POSITIVE_INFINITY
    if (state === 'over') return
    const nextLook = looksAfterMs.find((ms) => ms > quietMs)
    const times = [dueAt, nextLook === undefined ? undefined : now - quietMs + nextLook].filter(
      (time) => time !== undefined,
    )
    if (times.length === 0) return
    attempt.dueAt = Math.max(now + 1, Math.min(...times))
    due.add(attempt, attempt.dueAt)
  }

  return {
    /** Where it stands now, without telling anybody. */
    look(attempt: KeptAttempt, moment: Moment): BootAttempt {
      const facts = gatherFacts(attempt)
      return attemptOf(attempt, facts, standing(attempt, facts, moment))
    },
    settle(attempt: KeptAttempt, { isChanged, ...moment }: Moment & { readonly isChanged: boolean }): void {
      const { now } = moment
      const facts = gatherFacts(attempt)
      const found = standing(attempt, facts, moment)
      const diagnosis = diagnose(attempt, facts, found, now)
      const before = attempt.reduced
      const hadOutcome = attempt.outcome
      const isNewDiagnosis = diagnosis?.code !== attempt.diagnosis?.code
      if (diagnosis !== undefined && isNewDiagnosis) {
        const event = { type: 'diagnosed', at: now, code: diagnosis.code, text: diagnosis.text } as const
        attempt.leftOut += appendEvent(attempt.events, event, mostEvents)
      }
      attempt.diagnosis = diagnosis
      attempt.outcome = found.outcome
      attempt.endedAt = found.endedAt
      attempt.reduced = attemptOf(attempt, facts, found)
      const isMoved = before?.state !== attempt.reduced.state || hadOutcome !== found.outcome
      if (isNewDiagnosis || hadOutcome !== found.outcome) shelf.changed(attempt)
      if (found.outcome !== undefined && hadOutcome === undefined) {
        shelf.ended(attempt)
        if (attempt.machine !== undefined) attempt.machine.limits = undefined
      }
      schedule(attempt, found, now)
      tell(attempt, attempt.reduced, isChanged || isNewDiagnosis || isMoved)
    },
  }
}
