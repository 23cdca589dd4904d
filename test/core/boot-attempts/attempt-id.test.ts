import { expect, it } from 'vitest'
import { attemptIdOf, parseAttemptId } from '../../../src/core/boot-attempts/attempt-id.ts'
import { testStart } from '../../fakes/boot-steps.ts'

it('ids sort by time', () => {
  const times = [0, 1, 36, testStart, testStart + 1, testStart + 1e9, 36 ** 9 - 1]
  const ids = times.map((time) => attemptIdOf(time, () => 0.999))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(times.length)
})

it.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300, 0.5])(
  'a time that no clock shows (%d) makes an id all the same',
  (time) => {
    const id = attemptIdOf(time, () => 0)
    expect(parseAttemptId(id)).toBe(id)
  },
)

it.each(['', 'x', '0mx37udc0rn527', '0mx37udc0rn527vv', '0MX37UDC0RN527V', "0mx37udc0rn52'v"])(
  '%j is no id',
  (text) => {
    expect(parseAttemptId(text)).toBeUndefined()
  },
)
