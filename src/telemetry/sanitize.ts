import { isServiceError } from '../core/errors.ts'
import { visibleText } from '../core/visible-text.ts'

const secretNames =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|(?:.*[-_.])?(?:password|passphrase|secret|token|credentials?)|.*(?:Password|Secret|Token))$/i
/** `/ignition/<token>` and `/report/<token>` give their holder a host's secrets (field case 159). */
const tokenPath = /(\/(?:ignition|report)\/)[^\s/?#"']+/g
const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"']+@/gi
const secretParameter =
  /([?&](?:access_token|token|password|secret|sig|signature|x-amz-signature|x-amz-security-token)=)[^&\s#"']+/gi

/** What any pattern here or of `visibleText` can find holds one of these; ids, addresses, names and our sentences do not. */
const suspicious = /[^A-Za-z0-9 ._:,=+()/-]|\/(?:ignition|report)\//
/** Shorter than any bound here. */
const longestPlain = 100

const redacted = '[redacted]'
const maxDepth = 6
const maxItems = 100

/** Text for a log: credentials of URLs and boot tokens left out, invisible characters spelt out, bounded. */
export function sanitizeText(text: string): string {
  if (isPlainText(text)) return text
  // Cut before searching, so that a long line costs no more than a short one; visibleText cuts again, visibly.
  return visibleText(
    text
      .slice(0, 8192)
      .replace(tokenPath, `$1${redacted}`)
      .replace(userInfo, `$1${redacted}@`)
      .replace(secretParameter, `$1${redacted}`),
  )
}

function sanitizeError(error: Error, depth: number): object {
  const known = isServiceError(error)
  const code: unknown = 'code' in error ? error.code : undefined
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    message: sanitizeText(error.message),
    ...(known &&
      Object.keys(error.details).length > 0 && { details: sanitizeValue(error.details, depth + 1) }),
    // A ServiceError says by itself what happened; for anything else the stack is the only trace.
    ...(!known && error.stack !== undefined && { stack: sanitizeStack(error.stack) }),
    ...(error.cause !== undefined && { cause: sanitizeValue(error.cause, depth + 1) }),
  }
}

function sanitizeStack(stack: string): readonly string[] {
  return stack
    .split('\n')
    .slice(1, 12)
    .map((line) => sanitizeText(line.trim()))
}

/**
 * A value for a log line, as plain data: strings sanitised, secret-looking fields redacted, errors as objects,
 * bytes as their count, and everything bounded in depth and number, whatever a client made us log (field case 165).
 */
export function sanitizeValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return sanitizeText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '[deeper]'
  if (value instanceof Error) return sanitizeError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof URL) return sanitizeText(value.href)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof Map) return sanitizeEntries([...value.entries()], depth)
  if (value instanceof Set || Array.isArray(value)) return sanitizeList([...value], depth)
  return sanitizeEntries(Object.entries(value), depth)
}

function sanitizeList(items: readonly unknown[], depth: number): readonly unknown[] {
  const shown = items.slice(0, maxItems).map((item) => sanitizeValue(item, depth + 1))
  return items.length > maxItems ? [...shown, `[${items.length - maxItems} more]`] : shown
}

function sanitizeEntries(entries: readonly (readonly [unknown, unknown])[], depth: number): object {
  return Object.fromEntries(
    entries.slice(0, maxItems).map(([key, value]) => {
      const name = visibleText(String(key), 100)
      return [name, secretNames.test(name) ? redacted : sanitizeValue(value, depth + 1)]
    }),
  )
}

/** The fields of a log line, sanitised: themselves when there is nothing to hide in them. */
export function sanitizeFields(fields: object): object {
  if (hasNothingToHide(fields)) return fields
  return fields instanceof Error ? { err: sanitizeError(fields, 0) } : (sanitizeValue(fields) as object)
}

/** One look instead of a copy: the line of every boot and of every file sent passes here. */
function hasNothingToHide(fields: object): boolean {
  if (Object.getPrototypeOf(fields) !== Object.prototype) return false
  const entries = Object.entries(fields)
  return entries.length <= maxItems && entries.every(isPlainEntry)
}

function isPlainEntry([name, value]: [string, unknown]): boolean {
  if (!isPlainText(name) || secretNames.test(name)) return false
  if (Array.isArray(value)) return value.length <= maxItems && value.every(isPlainValue)
  return isPlainValue(value)
}

function isPlainValue(value: unknown): boolean {
  if (typeof value === 'string') return isPlainText(value)
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean'
}

function isPlainText(text: string): boolean {
  return text.length <= longestPlain && !suspicious.test(text)
}
