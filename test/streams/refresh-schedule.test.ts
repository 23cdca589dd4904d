import { describe, expect, it } from 'vitest'
import { defaultRetry, nextRefreshDelayMs } from '../../src/streams/refresh-schedule.ts'

const minute = 60_000
const schedule = { refreshMs: 15 * minute, retry: defaultRetry }

describe('nextRefreshDelayMs', () => {
  it.each([
    [0, 0, 13.5 * minute],
    [0, 0.5, 15 * minute],
    [0, 0.999, 989_820],
    [1, 0, 2_500],
    [1, 0.999, 4_998],
    [2, 0.5, 7_500],
    [4, 0, 20_000],
    [8, 0, 5 * minute],
    [2000, 0, 5 * minute],
    [2000, 0.999, 599_700],
  ])('after %i failures in a row and by chance %f: %i ms', (failures, random, expected) => {
    expect(nextRefreshDelayMs(schedule, failures, random)).toBe(expected)
  })

  it('a stream that is refreshed every minute is not given up for longer', () => {
    expect(nextRefreshDelayMs({ ...schedule, refreshMs: minute }, 2000, 0.999)).toBe(59_970)
  })
})
