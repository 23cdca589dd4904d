import type { AttemptOutcome, AttemptRecord, AttemptState } from '../boot-attempt.ts'
import type { AttemptFacts } from './attempt-facts.ts'
import { longestSilenceMs } from './begins-anew.ts'
import { isInPassing } from './in-passing.ts'
import { reached } from './journey.ts'
import { limitOf, type PhaseLimits } from './phase-limits.ts'

/** Where a boot stands, and until when nothing but an event can change that. */
export interface Standing {
  readonly state: AttemptState
  readonly outcome?: AttemptOutcome
  readonly endedAt?: number
  /** Since its last sign of life, as far as it could have been heard; ms. */
  readonly quietMs: number
  readonly limitMs: number
  /** When it will be stuck, held or lost, if nothing is heard of it. */
  readonly dueAt?: number
}

export interface StandingInput {
  readonly now: number
  readonly limits: PhaseLimits
  /** Since when machines can be heard at all: a start of the service, a jump of the clock. */
  readonly hearingSince?: number
}

const minutes = 60_000
/** The script of a refusal shows its reason for ten minutes, and leaves. */
export const holdShownMs = 10 * minutes
/** Firmware that was offered something and took nothing has booted otherwise. */
const dhcpLostMs = 30 * minutes
/** Too little was seen of it to wait longer. */
const inPassingLostMs = 10 * minutes
/** Nobody knows which machine it is: somebody who looks at a URL is one too. */
const strangerLostMs = 10 * minutes

type Head = Pick<AttemptRecord, 'mac' | 'host' | 'outcome' | 'endedAt'>

/** Late words count: a machine that was given up and then reports has booted. */
export function standingOf(facts: AttemptFacts, head: Head, input: StandingInput): Standing {
  const { now, limits, hearingSince = 0 } = input
  const limitMs = limitOf(facts, limits)
  const heardAt = Math.max(facts.lastAt, hearingSince)
  const quietMs = Math.max(0, now - heardAt)
  const over = (outcome: AttemptOutcome, endedAt: number): Standing => ({
    state: 'over',
    outcome,
    endedAt: Math.max(facts.startedAt, endedAt),
    quietMs,
    limitMs,
  })

  const { report, decision, servedAt } = facts
  if (report !== undefined) return over(report.status, report.at)
  if (decision?.kind === 'local' || decision?.kind === 'ignore') return over('local', decision.at)
  if (servedAt !== undefined && decision?.expects?.includes('report') !== true)
    return over('served', servedAt)
  if (decision?.kind === 'hold') {
    const until = Math.max(decision.at, Math.min(hearingSince, now)) + holdShownMs
    if (now >= until || head.outcome !== undefined)
      return over('held', Math.min(until, head.endedAt ?? until))
    return { state: 'running', quietMs, limitMs, dueAt: until }
  }
  // What was ended by another boot, or is a head whose events are elsewhere. Whoever was given up and is heard again is not lost.
  if (head.outcome !== undefined && !(head.outcome === 'lost' && facts.lastAt > (head.endedAt ?? 0))) {
    return over(head.outcome, head.endedAt ?? facts.lastAt)
  }
  const { journey, run } = facts
  // DHCP alone told it to boot from its disk, and so it did.
  if (run?.decision === 'local' && journey.level === reached.nothing && quietMs >= limitMs) {
    return over('local', facts.lastAt)
  }
  // It ends when it is given up: until then nobody could tell it from one that goes on.
  const state = decision?.kind === 'wait' ? 'waiting' : 'running'
  if (isInPassing(facts, head.host !== undefined)) {
    if (quietMs >= inPassingLostMs) return over('lost', heardAt + inPassingLostMs)
    return { state, quietMs, limitMs, dueAt: heardAt + inPassingLostMs }
  }
  const lostMs = Math.max(longestSilenceOf(facts, head), 2 * limitMs)
  if (quietMs >= lostMs) return over('lost', heardAt + lostMs)
  if (quietMs >= limitMs) return { state: 'stuck', quietMs, limitMs, dueAt: heardAt + lostMs }
  return { state, quietMs, limitMs, dueAt: heardAt + limitMs }
}

function longestSilenceOf({ journey }: AttemptFacts, { mac, host }: Head): number {
  if (mac === undefined && host === undefined) return strangerLostMs
  return journey.level === reached.nothing ? dhcpLostMs : longestSilenceMs
}
