import type { BootId } from './boot-event.ts'
import type { BootimageId } from './bootimage.ts'
import type { MacAddress } from './mac.ts'

/** One boot of one machine, in the form that a lease needs (G6). Times are ms since the epoch. */
export interface BootLease {
  readonly bootId: BootId
  readonly host?: string
  readonly mac?: MacAddress
  /** IP address that its script went to. */
  readonly address?: string
  readonly bootimage: BootimageId
  readonly startedAt: number
  readonly lastSeenAt: number
}

/** A bootimage that some boot needs, whoever's. */
export interface BootimageLease {
  readonly bootimage: BootimageId
  /** The last sign of life of any of them. */
  readonly lastSeenAt: number
}

/** A boot that has shown no sign of life for this long is over, and so is its lease. */
export const longestBootAttemptMs = 2 * 60 * 60 * 1000

export function isLeasing(attempt: BootLease, now: number): boolean {
  return now - attempt.lastSeenAt < longestBootAttemptMs
}
