/** The kernel cuts at most 64 segments (UDP_MAX_SEGMENTS), out of one datagram of at most 65,507 bytes. */
const mostSegments = 64
const mostBytes = 65_000

/** How many bytes may go into one send, for packets of `stride` bytes: a whole number of them, one at least. */
export function segmentedSendBytes(stride: number): number {
  return Math.max(Math.min(Math.floor(mostBytes / stride), mostSegments), 1) * stride
}
