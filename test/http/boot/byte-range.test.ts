import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerRange } from '../../../src/http/boot/byte-range.ts'

const size = 1000

describe('field case 95', () => {
  test.each([
    undefined,
    'bytes=u-u',
    'bytes=-1540874240--1540857857',
    'bytes=',
    'bytes=-',
    'lines=0-1',
    'bytes=0-1,5-6',
    'bytes=0-1, 5-6',
    'bytes=5-2',
    'bytes 0-1',
    'bytes=0x10-0x20',
    'bytes=1e2-2e2',
    'bytes= 0-1',
    '',
  ])('%s is ignored: the whole file', (header) => {
    expect(answerRange(header, size)).toEqual({ kind: 'whole' })
  })

  test.each([
    ['bytes=100-199', 100, 200],
    ['bytes=0-0', 0, 1],
    ['bytes=-10', 990, 1000],
    ['bytes=-5000', 0, 1000],
    ['bytes=999-', 999, 1000],
    ['bytes=0-', 0, 1000],
    ['bytes=500-99999999999999999999', 500, 1000],
    ['Bytes=1-2', 1, 3],
  ])('%s is one part', (header, start, end) => {
    expect(answerRange(header, size)).toEqual({ kind: 'part', start, end })
  })

  test.each(['bytes=1000-', 'bytes=1000-1005', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s lies behind the end',
    (header) => {
      expect(answerRange(header, size)).toEqual({ kind: 'unsatisfiable' })
    },
  )
})

test('a part always lies within the file', () => {
  const header = fc.oneof(
    fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => `bytes=${from}-${to}`),
    fc.nat().map((from) => `bytes=${from}-`),
    fc.nat().map((length) => `bytes=-${length}`),
    fc.string({ maxLength: 30 }),
  )
  fc.assert(
    fc.property(header, fc.integer({ min: 1, max: 2 ** 40 }), (text, sizeBytes) => {
      const answer = answerRange(text, sizeBytes)
      if (answer.kind !== 'part') return
      expect(answer.start).toBeGreaterThanOrEqual(0)
      expect(answer.end).toBeGreaterThan(answer.start)
      expect(answer.end).toBeLessThanOrEqual(sizeBytes)
    }),
  )
})
