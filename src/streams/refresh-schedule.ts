export interface RefreshSchedule {
  /** Between two good refreshes, give or take a tenth. */
  readonly refreshMs: number
  /** After failures: doubled from `firstMs` up to `maxMs`, and never longer than `refreshMs`. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number }
}

export const defaultRetry: RefreshSchedule['retry'] = { firstMs: 5_000, maxMs: 10 * 60_000 }

/**
 * When to refresh next. Spread by chance, so that a thousand services that started together, or failed together, do
 * not ask together.
 *
 * @param failuresInARow 0 after a good refresh
 * @param random from 0 to below 1
 */
export function nextRefreshDelayMs(
  schedule: RefreshSchedule,
  failuresInARow: number,
  random: number,
): number {
  const { refreshMs, retry } = schedule
  if (failuresInARow === 0) return Math.round(refreshMs * (0.9 + 0.2 * random))
  const backoffMs = Math.min(retry.firstMs * 2 ** (failuresInARow - 1), retry.maxMs, refreshMs)
  return Math.round(backoffMs * (0.5 + 0.5 * random))
}
