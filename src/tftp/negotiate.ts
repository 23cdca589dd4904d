import type { RequestedOption } from './packet.ts'

export const defaultBlockSize = 512
/** RFC 2348. */
const smallestBlockSize = 8
const largestBlockSize = 65464
/** RFC 7440 allows 65535; servers above 64 misbehaved (field case 72). */
export const largestWindowSize = 64

/** IPv4 and UDP headers (28) or IPv6 and UDP headers (48), and TFTP's four bytes. */
const overheadBytes = { 4: 32, 6: 52 } as const

/** What this server lets a client have. */
export interface NegotiationLimits {
  readonly maxBlockSize: number
  readonly maxWindowSize: number
}

export interface NegotiatedTransfer {
  readonly blockSize: number
  readonly windowSize: number
  /** The client's own retransmission interval (RFC 2349); absent: ours adapts. */
  readonly timeoutMs?: number
  /** What the OACK acknowledges, in the client's order; empty: no OACK, DATA 1 is the answer. */
  readonly acknowledged: readonly RequestedOption[]
  /** Whether the client asked for the size: firmware does so to probe, and then aborts (field case 60). */
  readonly isSizeAsked: boolean
}

/**
 * The largest block that needs no fragment on an interface (field case 66): MTU 1500 gives 1468 over IPv4.
 * `operatorCap` stands above it when it is smaller.
 */
export function blockSizeLimit(mtuBytes: number, family: 4 | 6, operatorCap?: number): number {
  const unfragmented = mtuBytes - overheadBytes[family]
  const limit = Math.min(unfragmented, largestBlockSize, operatorCap ?? largestBlockSize)
  return Math.max(limit, smallestBlockSize)
}

/** A decimal within bounds, or `undefined`: signs, blanks, hex and words are no values (field case 65). */
function decimalWithin(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}

/**
 * Answers a request's options (RFC 2347, 2348, 2349, 7440). Only what was asked is acknowledged, never more than
 * was asked for, and a value out of range is as if it had not been asked (field cases 61, 62, 65, 66, 72).
 * Unknown options, `utimeout` among them, are left out.
 */
export function negotiate(
  options: readonly RequestedOption[],
  sizeBytes: number,
  limits: NegotiationLimits,
): NegotiatedTransfer {
  const acknowledged: RequestedOption[] = []
  let blockSize = defaultBlockSize
  let windowSize = 1
  let timeoutMs: number | undefined
  let isSizeAsked = false

  for (const { name, value } of options) {
    if (name === 'blksize') {
      const asked = decimalWithin(value, smallestBlockSize, largestBlockSize)
      if (asked === undefined) continue
      blockSize = Math.min(asked, limits.maxBlockSize)
      acknowledged.push({ name, value: String(blockSize) })
    } else if (name === 'windowsize') {
      const asked = decimalWithin(value, 1, 65535)
      if (asked === undefined) continue
      windowSize = Math.min(asked, limits.maxWindowSize, largestWindowSize)
      acknowledged.push({ name, value: String(windowSize) })
    } else if (name === 'timeout') {
      const asked = decimalWithin(value, 1, 255)
      if (asked === undefined) continue
      timeoutMs = asked * 1000
      acknowledged.push({ name, value: String(asked) })
    } else if (name === 'tsize') {
      if (!/^\d+$/.test(value)) continue
      isSizeAsked = true
      acknowledged.push({ name, value: String(sizeBytes) })
    }
  }

  return {
    blockSize,
    windowSize,
    acknowledged,
    isSizeAsked,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
}
