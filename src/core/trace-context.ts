import type { BootId, TraceId } from './boot-event.ts'

/** What a `traceparent` header says (W3C Trace Context §3.2). */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: TraceId
  /** 16 lower-case hex digits, not all zero: the span of whoever asks. */
  readonly parentId: string
  readonly isSampled: boolean
}

/** Version 00 to fe, then trace id, parent id and flags; what a later version appends comes after a hyphen. */
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** A later version may be longer; this much longer is no header any more. */
const longestTraceparent = 256
const knownLength = 55
const allZero = /^0+$/

/**
 * Reads a `traceparent` header strictly: lower-case hex, the exact lengths of version 00, no id of zeros, no version
 * ff. A later version is read as far as 00 goes (§4.3). `undefined` for anything else: it is as if there were none.
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  if (text.length < knownLength || text.length > longestTraceparent) return undefined
  const match = traceparent.exec(text)
  if (match === null) return undefined
  const [, version = '', traceId = '', parentId = '', flags = '', more] = match
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (allZero.test(traceId) || allZero.test(parentId)) return undefined
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The header as version 00, for a request that goes on. */
export function formatTraceparent({ traceId, parentId, isSampled }: TraceContext): string {
  return `00-${traceId}-${parentId}-${isSampled ? '01' : '00'}`
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The trace of a boot: the 16 bytes that its boot id spells, as hex. */
export function traceIdOfBoot(bootId: BootId): TraceId {
  let hex = ''
  let bits = 0
  let waiting = 0
  for (const character of bootId) {
    waiting = (waiting << 6) | base64url.indexOf(character)
    bits += 6
    while (bits >= 4 && hex.length < 32) {
      bits -= 4
      hex += ((waiting >> bits) & 15).toString(16)
      waiting &= (1 << bits) - 1
    }
  }
  return hex
}

/** The trace that a request belongs to, as far as it is passed on. */
export interface RequestTrace {
  readonly traceId: TraceId
  readonly isSampled: boolean
  /** What the systems before us wrote into `tracestate`; theirs, passed on as it came. */
  readonly state?: string
}

/** W3C Trace Context §3.3.1.5: at least 512 characters are to be passed on, in whole or not at all. */
const longestTracestate = 512

/**
 * The trace of a request; `undefined` without a good `traceparent`: a `tracestate` alone means nothing (§3.3). One that
 * is too long or holds anything but printable ASCII is left out.
 */
export function readRequestTrace(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): RequestTrace | undefined {
  const { traceparent, tracestate } = headers
  // Sent twice it is not valid (§3.2.1): Node joins such headers with a comma, which no traceparent has.
  const context = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
  if (context === undefined) return undefined
  const { traceId, isSampled } = context
  const state = typeof tracestate === 'string' ? tracestate : tracestate?.join(',')
  const isGood = state !== undefined && state.length <= longestTracestate && /^[\x20-\x7e]+$/.test(state)
  return isGood ? { traceId, isSampled, state } : { traceId, isSampled }
}

/**
 * The headers of a request that we send as a part of a trace.
 * @param parentId 16 hex digits, which name our request in it
 */
export function traceHeaders(
  { traceId, isSampled, state }: RequestTrace,
  parentId: string,
): Readonly<Record<string, string>> {
  return {
    traceparent: formatTraceparent({ traceId, parentId, isSampled }),
    ...(state !== undefined && { tracestate: state }),
  }
}
