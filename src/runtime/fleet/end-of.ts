import { parseDuration } from '../../config/duration.ts'
import { formats } from '../../config/formats.ts'
import { parseUntil } from '../../config/until.ts'
import { ServiceError } from '../../core/errors.ts'

/** Longest time from now that a duration can name; a date can say more. */
const longestDays = 3660
const longestMs = longestDays * 24 * 60 * 60 * 1000

/**
 * When something ends, as ms since the epoch: a date (to its end, in UTC), a moment with its zone, or a time from now
 * such as `48h`.
 * @throws ServiceError USAGE for text that is none of these, and for a time that is past
 */
export function endOf(text: string, now: number, field = 'until'): number {
  const duration = parseDuration(text)
  const end = duration === undefined ? parseUntil(text) : now + duration
  if (duration !== undefined && duration > longestMs) {
    throw new ServiceError('USAGE', `${field} ${JSON.stringify(text)} is too long`, {
      field,
      hint: `a time from now is at most ${longestDays}d; for more name a date, such as 2050-12-31`,
    })
  }
  if (end === undefined) {
    throw new ServiceError('USAGE', `${field} ${JSON.stringify(text)} is not understood`, {
      field,
      hint: `allowed: ${formats.until.allowed}, or a time from now such as 48h or 30d`,
    })
  }
  if (end <= now) {
    throw new ServiceError('USAGE', `${field} ${JSON.stringify(text)} is past`, {
      field,
      hint: `it is ${new Date(now).toISOString()} now`,
    })
  }
  return end
}

/** The same for the beginning of a search: a date counts from its start, a duration goes back from now. */
export function beginningOf(text: string, now: number, field = 'since'): number {
  const duration = parseDuration(text)
  if (duration !== undefined) return now - duration
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const moment = parseUntil(isDate ? `${text}T00:00:00Z` : text)
  if (moment !== undefined) return moment
  throw new ServiceError('USAGE', `${field} ${JSON.stringify(text)} is not understood`, {
    field,
    hint: 'allowed: a date such as 2026-12-31, a moment with its zone, or a time back from now such as 48h',
  })
}
