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
import { learnFrom, limitsOf } from './machines.ts'
import type { TimelineListeners } from './timeline.ts'

interface Moment {
  readonly now: number
  /** Since when machines can be heard at all. */
  readonly hearingSince: number
}

/** Boots of the same machine that patterns look back at. */
const mostBefore = 8

const toldAgainMs = 24 * 60 * 60_000

/** Finds out where attempts stand, tells what changed, and says when to look again. */
export function createExaminer({
  shelf,
  addressServers,
  listeners,
  mostEvents,
}: {
  readonly shelf: Pick<AttemptShelf, 'changed' | 'ended' | 'resumed'>
  readonly addressServers: Pick<AddressServers, 'seenBeside'>
  readonly listeners: TimelineListeners
  readonly mostEvents: number
}) {
  function standing(attempt: KeptAttempt, facts: AttemptFacts, { now, hearingSince }: Moment): Standing {
    // Of what is over nobody asks how long it may be silent.
    const { machine, outcome } = attempt
    const limits = machine === undefined || outcome !== undefined ? defaultLimits : limitsOf(machine)
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
      isKnown: host !== undefined,
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

  /** Once each; what it is like is put together only where somebody wants to know. */
  function tell(attempt: KeptAttempt, reduced: () => BootAttempt): void {
    const { diagnosis, outcome } = attempt
    if (diagnosis !== undefined && !attempt.told.includes(diagnosis.code)) {
      attempt.told = [...attempt.told, diagnosis.code]
      if (!isToldOfMachine(attempt, diagnosis)) listeners.onDiagnosis?.(reduced(), diagnosis)
    }
    if (outcome !== undefined && !attempt.isOverTold) {
      attempt.isOverTold = true
      listeners.onOver?.(reduced())
    }
  }

  /** Of a machine that comes back every minute, each return is a boot; once a day is enough to know it. */
  function isToldOfMachine({ machine }: KeptAttempt, { code, at }: Diagnosis): boolean {
    if (code !== 'returns-although-local' || machine === undefined) return false
    const { returnsToldAt: before } = machine
    if (before !== undefined && Math.abs(at - before) < toldAgainMs) return true
    machine.returnsToldAt = at
    return false
  }

  /** When nothing but time can change where it stands. */
  function nextLook({ journey }: KeptAttempt, { state, quietMs, dueAt }: Standing, now: number): number {
    if (state === 'over') return Number.POSITIVE_INFINITY
    let next = dueAt ?? Number.POSITIVE_INFINITY
    for (const ms of looksAfterMs(journey.level)) if (ms > quietMs) next = Math.min(next, now - quietMs + ms)
    return Math.max(now + 1, next)
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
      const { state, outcome } = attempt
      const isNewDiagnosis = diagnosis?.code !== attempt.diagnosis?.code
      if (diagnosis !== undefined && isNewDiagnosis) {
        const event = { type: 'diagnosed', at: now, code: diagnosis.code, text: diagnosis.text } as const
        attempt.leftOut += appendEvent(attempt.events, event, mostEvents)
      }
      attempt.diagnosis = diagnosis
      attempt.outcome = found.outcome
      attempt.endedAt = found.endedAt
      attempt.state = found.state
      attempt.dueAt = nextLook(attempt, found, now)
      attempt.reduced = undefined
      const isMoved = isNewDiagnosis || outcome !== found.outcome || state !== found.state
      if (isNewDiagnosis || outcome !== found.outcome) shelf.changed(attempt)
      const isEnd = found.state === 'over' && state !== 'over'
      if (found.outcome !== undefined && isEnd && attempt.machine !== undefined) {
        learnFrom(attempt.machine, found.outcome, facts.silences)
      }
      if (state === 'over' && found.state !== 'over') shelf.resumed(attempt)
      if (isChanged || isMoved) listeners.onChange?.(attempt.id as AttemptId)
      let reduced: BootAttempt | undefined
      tell(attempt, () => {
        reduced ??= attemptOf(attempt, facts, found)
        return reduced
      })
      // Last, because only a head may be left of it then.
      if (isEnd) shelf.ended(attempt)
    },
  }
}
