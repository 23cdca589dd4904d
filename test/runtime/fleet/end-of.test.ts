import { describe, expect, it } from 'vitest'
import { endOf } from '../../../src/runtime/fleet/end-of.ts'

const now = Date.parse('2026-11-30T12:00:00Z')
const dayMs = 24 * 60 * 60 * 1000

describe('until', () => {
  it.each([
    ['48h', now + 2 * dayMs],
    ['3660d', now + 3660 * dayMs],
    ['2026-12-31', Date.parse('2027-01-01T00:00:00Z')],
    ['2050-12-31T18:00:00Z', Date.parse('2050-12-31T18:00:00Z')],
  ])('%s is understood', (text, end) => {
    expect(endOf(text, now)).toBe(end)
  })

  it.each([
    ['5000d', 'until "5000d" is too long', 'a time from now is at most 3660d; for more name a date'],
    ['999999d999999h', 'until "999999d999999h" is too long', '3660d'],
    ['3660d1s', 'until "3660d1s" is too long', '3660d'],
    ['2026-11-29', 'until "2026-11-29" is past', 'it is 2026-11-30T12:00:00.000Z now'],
    ['0s', 'until "0s" is past', 'now'],
    ['soon', 'until "soon" is not understood', 'allowed: a date'],
    ['', 'until "" is not understood', 'allowed: a date'],
  ])('%j is refused for its own reason', (text, message, hint) => {
    expect(() => endOf(text, now)).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message,
        details: { field: 'until', hint: expect.stringContaining(hint) },
      }),
    )
  })
})
