/** A duration for people: `340 ms`, `4.2 s`, `3 min 5 s`, `5 h 12 min`, `3 d 4 h`. */
export function shownDuration(ms: number): string {
  const bounded = Math.max(0, ms)
  if (bounded < 1_000) return `${Math.round(bounded)} ms`
  if (bounded < 59_950) return `${(bounded / 1_000).toFixed(1)} s`
  const seconds = Math.round(bounded / 1_000)
  if (seconds < 3_600) return twoUnits(seconds, 60, 'min', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 48 * 60) return twoUnits(minutes, 60, 'h', 'min')
  return twoUnits(Math.round(minutes / 60), 24, 'd', 'h')
}

function twoUnits(value: number, size: number, large: string, small: string): string {
  const rest = value % size
  const whole = `${Math.floor(value / size)} ${large}`
  return rest === 0 ? whole : `${whole} ${rest} ${small}`
}

/** How long ago something was: `now`, `12 s`, `3 min`, `5 h`, `12 d`. The script of the page counts on with the same words. */
export function shownAge(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000)
  if (seconds < 2) return 'now'
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}
