import { expect, test } from 'vitest'
import { readMoment, readTimeout } from '../../../src/cli/boots/read-moment.ts'

const now = Date.parse('2026-11-29T12:00:00Z')

test.each([
  ['2h', '2026-11-29T10:00:00.000Z'],
  ['7d', '2026-11-22T12:00:00.000Z'],
  ['2026-11-28', '2026-11-28T00:00:00.000Z'],
  ['2026-11-28T10:00Z', '2026-11-28T10:00:00.000Z'],
  ['2026-11-28T10:00:01.5+02:00', '2026-11-28T08:00:01.500Z'],
])('%s is %s', (text, time) => {
  expect(new Date(readMoment(text, now)).toISOString()).toBe(time)
})

test.each(['', 'yesterday', '2026-13-40', '2026-11-28T10:00', '5', '-2h'])('%j is no moment', (text) => {
  expect(() => readMoment(text, now)).toThrow('--since is')
})

test('a timeout is longer than nothing', () => {
  expect(readTimeout('30m')).toBe(1_800_000)
  expect(() => readTimeout('0s')).toThrow('duration')
  expect(() => readTimeout('soon')).toThrow('duration')
})
