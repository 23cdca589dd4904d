import type { IncomingHttpHeaders } from 'node:http'
import { usageError } from './api-error.ts'

/** A strong entity tag (RFC 9110 §8.8.3) of a record's revision. */
export function entityTag(revision: number): string {
  return `"${revision}"`
}

/**
 * The revision that a change is made for; `undefined` when it is said by nobody.
 * @param hasRevision whether what is to be changed has one: a condition that cannot be looked at is refused, because
 *   whoever sends it relies on it
 * @throws ServiceError USAGE for anything but one tag of ours in If-Match, or `*` in If-None-Match
 */
export function readIfRevision(headers: IncomingHttpHeaders, hasRevision: boolean): number | undefined {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match === undefined && noneMatch === undefined) return undefined
  const field = match === undefined ? 'if-none-match' : 'if-match'
  if (!hasRevision) throw usageError(`nothing here has a revision to go by`, { field, hint: 'leave it out' })
  if (match !== undefined && noneMatch !== undefined) {
    throw usageError('If-Match and If-None-Match exclude each other', { field })
  }
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === '*') return 0
    throw usageError('If-None-Match can only be *', { field, hint: '* : only if there is none yet' })
  }
  const [, digits] = /^\s*"(\d{1,15})"\s*$/.exec(match ?? '') ?? []
  if (digits !== undefined && Number(digits) > 0) return Number(digits)
  throw usageError('If-Match is no revision of a record', {
    field,
    hint: 'send back the header ETag as it came, such as "7"',
  })
}
