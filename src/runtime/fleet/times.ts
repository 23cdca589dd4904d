/** ISO 8601 in UTC, as the API tells times. */
export const iso = (ms: number): string => new Date(ms).toISOString()

export const isoIfAny = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : iso(ms)
