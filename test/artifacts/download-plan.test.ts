import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Attempt, type AttemptOutcome, maxFetches, nextStep } from '../../src/artifacts/download-plan.ts'
import type { Location } from '../../src/artifacts/locations.ts'
import { ServiceError } from '../../src/core/errors.ts'

const error = new ServiceError('ARTIFACT_UNAVAILABLE')
const absent: AttemptOutcome = { kind: 'absent' }
const unavailable: AttemptOutcome = { kind: 'unavailable' }
const wrong: AttemptOutcome = { kind: 'bad-content', wasResumed: false }
const wrongAfterResume: AttemptOutcome = { kind: 'bad-content', wasResumed: true }
const cut = (gainedBytes: number): AttemptOutcome => ({ kind: 'cut', gainedBytes })

function locations(...urls: string[]): Location[] {
  return urls.map((url, index) => ({ url, kind: index === urls.length - 1 ? 'upstream' : 'mirror' }))
}

/** Plays a download whose tries end as `outcome` says; the story as `url` or `url+delay`, `!` for past caches. */
function play(
  where: Location[],
  outcome: (url: string, time: number) => AttemptOutcome | undefined,
): string[] {
  const attempts: Attempt[] = []
  const story: string[] = []
  for (;;) {
    const step = nextStep(where, attempts)
    if (step.kind === 'give-up') return [...story, 'give up']
    story.push(step.url + (step.delayMs > 0 ? `+${step.delayMs}` : '') + (step.revalidate ? '!' : ''))
    const result = outcome(step.url, attempts.filter(({ url }) => url === step.url).length)
    if (result === undefined) return [...story, 'done']
    attempts.push({ ...step, outcome: result, error })
    expect(attempts.length).toBeLessThan(300)
  }
}

describe('nextStep', () => {
  it('tries mirrors first and upstream last, each once when they do not have it', () => {
    expect(play(locations('m1', 'm2', 'up'), () => absent)).toEqual(['m1', 'm2', 'up', 'give up'])
  })

  it('asks those that did not answer twice more, after growing pauses', () => {
    const story = play(locations('m1', 'm2', 'up'), (url) => (url === 'm1' ? absent : unavailable))
    expect(story).toEqual(['m1', 'm2', 'up', 'm2+2000', 'up', 'm2+4000', 'up', 'give up'])
  })

  it('waits as long as a busy location asks for, up to a minute', () => {
    const busy: AttemptOutcome = { kind: 'unavailable', retryAfterMs: 20_000 }
    const forever: AttemptOutcome = { kind: 'unavailable', retryAfterMs: 86_400_000 }
    expect(play(locations('up'), (_url, time) => [busy, forever][time])).toEqual([
      'up',
      'up+20000',
      'up+60000',
      'done',
    ])
  })

  it('continues where it was cut off as long as that brings more', () => {
    const story = play(locations('m1', 'up'), (url, time) => {
      if (url === 'up') return undefined
      return cut(time < 3 ? 1000 : 0)
    })
    expect(story).toEqual(['m1', 'm1+1000', 'm1+2000', 'm1+4000', 'up', 'done'])
  })

  it('does not continue the same transfer for ever', () => {
    const story = play(locations('up'), () => cut(1))
    expect(story.filter((step) => step.startsWith('up')).length).toBeLessThanOrEqual(30)
    expect(story.at(-1)).toBe('give up')
  })

  it('142: goes on to the next location after wrong bytes, and gives each a second chance past caches', () => {
    expect(play(locations('up'), () => wrong)).toEqual(['up', 'up!', 'give up'])
    expect(play(locations('m1', 'up'), () => wrong)).toEqual(['m1', 'up', 'm1!', 'give up'])
  })

  it('142: never takes wrong bytes more than three times', () => {
    expect(play(locations('m1', 'm2', 'm3', 'm4', 'up'), () => wrong)).toEqual(['m1', 'm2', 'm3', 'give up'])
  })

  it('142: a wrong file that was put together from two transfers is fetched whole from the same place', () => {
    expect(play(locations('m1', 'up'), (_url, time) => [wrongAfterResume, undefined][time])).toEqual([
      'm1',
      'm1',
      'done',
    ])
  })

  it('gives the locations that did not answer their rounds before a wrong one is asked again', () => {
    const story = play(locations('m1', 'up'), (url) => (url === 'm1' ? wrong : unavailable))
    expect(story).toEqual(['m1', 'up', 'up+2000', 'up+4000', 'm1!', 'give up'])
  })

  it('has nothing to do without locations', () => {
    expect(play([], () => absent)).toEqual(['give up'])
  })

  it('142: whatever happens it ends, wrong bytes come at most three times, and pauses are bounded', () => {
    const outcome = fc.oneof(
      fc.constant(absent),
      fc.record({ kind: fc.constant('unavailable' as const), retryAfterMs: fc.nat() }),
      fc.nat({ max: 1 }).map((gained) => cut(gained)),
      fc.boolean().map((wasResumed): AttemptOutcome => ({ kind: 'bad-content', wasResumed })),
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.infiniteStream(outcome), (count, outcomes) => {
        const where = locations(...Array.from({ length: count }, (_, index) => `l${index}`))
        const attempts: Attempt[] = []
        for (;;) {
          const step = nextStep(where, attempts)
          if (step.kind === 'give-up') break
          expect(where.map(({ url }) => url)).toContain(step.url)
          expect(step.delayMs).toBeLessThanOrEqual(60_000)
          attempts.push({ ...step, outcome: outcomes.next().value ?? absent, error })
          expect(attempts.length).toBeLessThan(200)
        }
        const bad = attempts.filter((attempt) => attempt.outcome.kind === 'bad-content')
        expect(bad.length).toBeLessThanOrEqual(maxFetches)
      }),
    )
  })
})
