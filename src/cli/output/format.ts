const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `1.2 GiB`; three digits are enough for a person. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes)
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${value.toFixed(digits)} ${units[unit]}`
}

/** `3 h ago`; an unreadable or missing time is `never`. */
export function formatAge(time: string | undefined, now: number): string {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  if (Number.isNaN(at)) return 'never'
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

/** `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** A time as an admin can read it and give it back (`--until`): ISO 8601 in UTC without parts of a second. */
export function formatTime(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/** `20 ms`, `4.0 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 days`: how long something took, in ms. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return parts(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 48 * 60) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  return `${Math.floor(minutes / 1440)} days`
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}
