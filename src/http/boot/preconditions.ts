/** The names of one state of a file, for clients that come back. */
export interface Validators {
  /** Strong, with its quotes: `"<sha256>"`. */
  readonly etag: string
  /** Ms since the epoch; absent for what has no date of its own. */
  readonly modifiedAt?: number
}

export interface ConditionalHeaders {
  readonly ifMatch?: string
  readonly ifUnmodifiedSince?: string
  readonly ifNoneMatch?: string
}

/**
 * Evaluates preconditions in the order of RFC 9110 §13.2.2. EDK2 resumes with If-Match when the tag that it saw
 * began with a quote, else with If-Unmodified-Since (field case 97). If-Modified-Since is ignored on purpose: a node
 * must never meet a 3xx, and only If-None-Match shows a client that can handle one.
 */
export function checkPreconditions(
  headers: ConditionalHeaders,
  validators: Validators,
): 'proceed' | 'failed' | 'not-modified' {
  const { ifMatch, ifUnmodifiedSince, ifNoneMatch } = headers
  if (ifMatch !== undefined) {
    if (!listsTag(ifMatch, validators.etag, 'strong')) return 'failed'
  } else if (ifUnmodifiedSince !== undefined) {
    const date = parseHttpDate(ifUnmodifiedSince)
    const { modifiedAt } = validators
    if (date !== undefined && modifiedAt !== undefined && wholeSeconds(modifiedAt) > date) return 'failed'
  }
  if (ifNoneMatch !== undefined && listsTag(ifNoneMatch, validators.etag, 'weak')) return 'not-modified'
  return 'proceed'
}

/** Whether a Range counts beside this If-Range (RFC 9110 §13.1.5); if not, the whole file is the answer. */
export function rangeApplies(ifRange: string | undefined, validators: Validators): boolean {
  if (ifRange === undefined) return true
  const text = ifRange.trim()
  if (text.startsWith('"') || text.startsWith('W/')) return text === validators.etag
  const { modifiedAt } = validators
  return modifiedAt !== undefined && parseHttpDate(text) === wholeSeconds(modifiedAt)
}

/** `Last-Modified` as RFC 9110 §5.6.7 wants it. */
export function httpDate(at: number): string {
  return new Date(at).toUTCString()
}

function listsTag(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => tag === etag || (comparison === 'weak' && tag === `W/${etag}`))
}

/** Only the form that is sent today; a tag that a client took for a date is no date. */
function parseHttpDate(text: string): number | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim())) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** HTTP dates have no milliseconds. */
function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000
}
