import type { ServiceError } from '../core/errors.ts'
import type { Location } from './locations.ts'

/** How one try of one location ended, when it did not end well. */
export type AttemptOutcome =
  /** It is not there, or we may not have it: no use in asking again. */
  | { readonly kind: 'absent' }
  /** Nothing useful was said: asked again later. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs?: number }
  /** It broke off; `gainedBytes` were kept and need not come again. */
  | { readonly kind: 'cut'; readonly gainedBytes: number }
  /** It delivered, and what it delivered is wrong. `wasResumed`: the wrong part may be ours. */
  | { readonly kind: 'bad-content'; readonly wasResumed: boolean }

export interface Attempt {
  readonly url: string
  /** Of the step that led to it. */
  readonly continues: boolean
  readonly outcome: AttemptOutcome
  readonly error: ServiceError
}

export type NextStep =
  | {
      readonly kind: 'try'
      readonly url: string
      readonly delayMs: number
      /** It goes on with the transfer of the attempt before. */
      readonly continues: boolean
      /** Go past caches on the way: this location has delivered wrong bytes before. */
      readonly revalidate: boolean
    }
  | { readonly kind: 'give-up' }

/** Wrong bytes may come this often before we stop for this cycle (field case 142). */
export const maxFetches = 3
const maxRounds = 3
const mostContinuations = 8
const longestRetryAfterMs = 60_000

/**
 * What to do after these attempts. All locations are tried in order, once a round; those that merely did not answer
 * get two more rounds after growing pauses. A transfer that broke off is continued where it was as long as that
 * brings it forward. Wrong bytes lead to the next location; when none is left, each may try once more.
 */
export function nextStep(locations: readonly Location[], attempts: readonly Attempt[]): NextStep {
  const badFetches = attempts.filter(({ outcome }) => outcome.kind === 'bad-content').length
  if (badFetches >= maxFetches) return { kind: 'give-up' }
  return continueLast(attempts) ?? nextInRound(locations, attempts) ?? secondChance(locations, attempts)
}

function continueLast(attempts: readonly Attempt[]): NextStep | undefined {
  const last = attempts.at(-1)
  if (last === undefined) return undefined
  const { url, outcome } = last
  if (outcome.kind === 'bad-content' && outcome.wasResumed) {
    return { kind: 'try', url, delayMs: 0, continues: true, revalidate: false }
  }
  if (outcome.kind !== 'cut' || outcome.gainedBytes === 0) return undefined
  const continued = attempts.length - 1 - attempts.findLastIndex(({ continues }) => !continues)
  if (continued >= mostContinuations) return undefined
  return { kind: 'try', url, delayMs: pauseMs(continued), continues: true, revalidate: false }
}

function nextInRound(locations: readonly Location[], attempts: readonly Attempt[]): NextStep | undefined {
  const open = locations
    .filter(({ url }) => !attempts.some((attempt) => attempt.url === url && isFinal(attempt)))
    .map(({ url }) => ({ url, rounds: roundsOf(url, attempts) }))
  const round = Math.min(...open.map(({ rounds }) => rounds))
  const next = open.find(({ rounds }) => rounds === round)
  if (next === undefined || round >= maxRounds) return undefined
  const startsRound = round > 0 && open.every(({ rounds }) => rounds === round)
  const asked = retryAfterOf(next.url, attempts)
  const delayMs = Math.max(startsRound ? pauseMs(round) : 0, Math.min(asked, longestRetryAfterMs))
  return { kind: 'try', url: next.url, delayMs, continues: false, revalidate: false }
}

function secondChance(locations: readonly Location[], attempts: readonly Attempt[]): NextStep {
  const wrongOnce = locations.find(({ url }) => {
    const wrong = attempts.filter((attempt) => attempt.url === url && isWrong(attempt))
    return wrong.length === 1 && attempts.findLast((attempt) => attempt.url === url) === wrong[0]
  })
  if (wrongOnce === undefined) return { kind: 'give-up' }
  return { kind: 'try', url: wrongOnce.url, delayMs: 0, continues: false, revalidate: true }
}

/** 1 s, 2 s, 4 s … 16 s. */
function pauseMs(step: number): number {
  return 1000 * 2 ** Math.min(step, 4)
}

function isWrong({ outcome }: Attempt): boolean {
  return outcome.kind === 'bad-content' && !outcome.wasResumed
}

function isFinal(attempt: Attempt): boolean {
  return attempt.outcome.kind === 'absent' || isWrong(attempt)
}

/** Continuations of one transfer count as one. */
function roundsOf(url: string, attempts: readonly Attempt[]): number {
  return attempts.filter((attempt) => attempt.url === url && !attempt.continues).length
}

function retryAfterOf(url: string, attempts: readonly Attempt[]): number {
  const outcome = attempts.findLast((attempt) => attempt.url === url)?.outcome
  return outcome?.kind === 'unavailable' ? (outcome.retryAfterMs ?? 0) : 0
}
