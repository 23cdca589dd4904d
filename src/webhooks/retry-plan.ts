const firstMs = 5_000
const longestMs = 60 * 60 * 1000
/** A message that nobody took within a day is no news any more. */
export const mostAgeMs = 24 * 60 * 60 * 1000

/**
 * How long to wait after so many failures in a row: each time twice as long, an hour at most, and half of it left to
 * chance, so that what failed together does not come again together. What the receiver asked for counts when it is
 * longer.
 * @param random from 0 to 1
 */
export function retryDelayMs(failures: number, random: number, askedMs = 0): number {
  const usual = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20))
  return Math.max(usual / 2 + (usual / 2) * random, Math.min(askedMs, mostAgeMs))
}
