/** How long to wait for an acknowledgement; immutable, times in milliseconds. */
export interface RetransmitTimer {
  readonly timeoutMs: number
  /** Of the round trips measured so far; `undefined` before the first. */
  readonly smoothedMs: number | undefined
  readonly variationMs: number | undefined
  /** The client's `timeout` option: neither measured nor doubled (RFC 2349). */
  readonly isFixed: boolean
}

/**
 * A lost packet is repeated after 100 ms rather than a second: under 1 % loss that decides how long a transfer takes.
 * A network that is slower than that is measured within one round trip.
 */
export const firstTimeoutMs = 100
const leastTimeoutMs = 100
const mostTimeoutMs = 5_000

export function createRetransmitTimer(clientTimeoutMs?: number): RetransmitTimer {
  return {
    timeoutMs: clientTimeoutMs ?? firstTimeoutMs,
    smoothedMs: undefined,
    variationMs: undefined,
    isFixed: clientTimeoutMs !== undefined,
  }
}

/** Takes in a measured round trip (RFC 6298 §2), and forgets any doubling. */
export function withRoundTrip(timer: RetransmitTimer, roundTripMs: number): RetransmitTimer {
  if (timer.isFixed) return timer
  const { smoothedMs, variationMs } = timer
  const smoothed = smoothedMs === undefined ? roundTripMs : smoothedMs * 0.875 + roundTripMs * 0.125
  const variation =
    smoothedMs === undefined || variationMs === undefined
      ? roundTripMs / 2
      : variationMs * 0.75 + Math.abs(smoothedMs - roundTripMs) * 0.25
  const timeoutMs = Math.min(Math.max(smoothed + 4 * variation, leastTimeoutMs), mostTimeoutMs)
  return { timeoutMs, smoothedMs: smoothed, variationMs: variation, isFixed: false }
}

/** After a timeout: twice as patient (RFC 6298 §5.5), unless the client chose the interval. */
export function backedOff(timer: RetransmitTimer): RetransmitTimer {
  if (timer.isFixed) return timer
  return { ...timer, timeoutMs: Math.min(timer.timeoutMs * 2, mostTimeoutMs) }
}
