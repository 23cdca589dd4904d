import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeAnswer } from '../../src/webhooks/judge-answer.ts'
import { mostAgeMs, retryDelayMs } from '../../src/webhooks/retry-plan.ts'

const now = Date.parse('2026-11-30T10:00:00Z')

describe('what an answer means', () => {
  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'rejected'],
    [307, 'rejected'],
    [400, 'rejected'],
    [401, 'rejected'],
    [404, 'rejected'],
    [410, 'gone'],
    [429, 'later'],
    [500, 'later'],
    [503, 'later'],
  ])('status %i is %s', (status, kind) => {
    expect(judgeAnswer({ kind: 'status', status }, now)).toMatchObject({ kind })
  })

  it('silence may pass', () => {
    expect(judgeAnswer({ kind: 'failed', why: 'ECONNREFUSED' }, now)).toEqual({
      kind: 'later',
      why: 'ECONNREFUSED',
    })
  })

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Mon, 30 Nov 2026 10:00:30 GMT', 30_000],
    ['Mon, 30 Nov 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
  ])('Retry-After %j is waited for', (retryAfter, waitMs) => {
    const verdict = judgeAnswer({ kind: 'status', status: 503, retryAfter }, now)
    expect(verdict).toEqual({ kind: 'later', why: 'status 503', ...(waitMs !== undefined && { waitMs }) })
  })
})

describe('how long to wait', () => {
  it('grows from seconds to an hour', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100].map((failures) => retryDelayMs(failures, 1))
    expect(delays.map((delay) => delay / 1000)).toEqual([
      5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600,
    ])
  })

  it('is left to chance by half, never shorter than asked for, never longer than a day', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(10 * mostAgeMs),
        (failures, random, askedMs) => {
          const delay = retryDelayMs(failures, random, askedMs)
          const longest = retryDelayMs(failures, 1)
          expect(delay).toBeGreaterThanOrEqual(Math.max(longest / 2, Math.min(askedMs, mostAgeMs)))
          expect(delay).toBeLessThanOrEqual(Math.max(longest, Math.min(askedMs, mostAgeMs)))
        },
      ),
    )
  })
})
