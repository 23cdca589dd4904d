import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../../config/duration.ts'
import { ServiceError } from '../../core/errors.ts'

const allowed = 'say a time (2026-11-29, 2026-11-29T12:00:00Z) or how long ago (90s, 15m, 2h, 7d)'

/**
 * A moment as an admin says it: a time, or how long ago.
 * @returns ms since the epoch
 * @throws ServiceError USAGE for anything else
 */
export function readMoment(text: string, now: number): number {
  const ago = parseDuration(text)
  if (ago !== undefined) return now - ago
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) {
    throw new ServiceError('USAGE', `--since is ${JSON.stringify(text)}`, { field: '--since', hint: allowed })
  }
  return at
}

/** @returns ms, more than 0 @throws InvalidArgumentError */
export function readTimeout(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0) throw new InvalidArgumentError('A duration: 90s, 15m, 2h.')
  return ms
}
