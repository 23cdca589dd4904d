import { describe, expect, test } from 'vitest'
import { checkPreconditions, httpDate, rangeApplies } from '../../../src/http/boot/preconditions.ts'

const etag = `"${'ab'.repeat(32)}"`
const modifiedAt = Date.UTC(2026, 10, 29, 12, 0, 0) + 250
const now = 'Sun, 29 Nov 2026 12:00:00 GMT'
const before = 'Sun, 29 Nov 2026 11:59:59 GMT'
const validators = { etag, modifiedAt }

describe('If-Match and If-Unmodified-Since, with which EDK2 resumes (field case 97)', () => {
  test.each([
    [{ ifMatch: etag }, 'proceed'],
    [{ ifMatch: `"other", ${etag}` }, 'proceed'],
    [{ ifMatch: '*' }, 'proceed'],
    [{ ifMatch: '"other"' }, 'failed'],
    [{ ifMatch: `W/${etag}` }, 'failed'],
    [{ ifMatch: 'nonsense' }, 'failed'],
    [{ ifUnmodifiedSince: now }, 'proceed'],
    [{ ifUnmodifiedSince: before }, 'failed'],
    [{ ifUnmodifiedSince: `W/${etag}` }, 'proceed'],
    [{ ifMatch: etag, ifUnmodifiedSince: before }, 'proceed'],
  ] as const)('%o', (headers, verdict) => {
    expect(checkPreconditions(headers, validators)).toBe(verdict)
  })
})

describe('If-None-Match', () => {
  test.each([
    [{ ifNoneMatch: etag }, 'not-modified'],
    [{ ifNoneMatch: `W/${etag}` }, 'not-modified'],
    [{ ifNoneMatch: '*' }, 'not-modified'],
    [{ ifNoneMatch: '"other"' }, 'proceed'],
    [{ ifMatch: '"other"', ifNoneMatch: etag }, 'failed'],
    [{}, 'proceed'],
  ] as const)('%o', (headers, verdict) => {
    expect(checkPreconditions(headers, validators)).toBe(verdict)
  })
})

test('what has no date is never refused for one', () => {
  expect(checkPreconditions({ ifUnmodifiedSince: before }, { etag })).toBe('proceed')
  expect(rangeApplies(now, { etag })).toBe(false)
})

test.each([
  [undefined, true],
  [etag, true],
  [` ${etag}`, true],
  [`W/${etag}`, false],
  ['"other"', false],
  [now, true],
  [before, false],
  ['yesterday', false],
])('If-Range %s', (ifRange, applies) => {
  expect(rangeApplies(ifRange, validators)).toBe(applies)
})

test('dates are sent as HTTP wants them', () => {
  expect(httpDate(modifiedAt)).toBe(now)
})
