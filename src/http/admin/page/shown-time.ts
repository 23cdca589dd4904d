import { shownAge } from './shown-duration.ts'

/** `12:00:41` of today, else `2026-11-29 12:00:41`; UTC. What is no time is shown as it is. */
export function shownTime(iso: string, now: number): string {
  const [day = '', time = ''] = iso.split('T')
  const clock = time.slice(0, 8)
  if (clock.length < 8) return iso
  const today = new Date(now).toISOString().slice(0, 10)
  return day === today ? clock : `${day} ${clock}`
}

/** `3 min ago`. */
export function shownSince(iso: string, now: number): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return iso
  const age = shownAge(now - at)
  return age === 'now' ? age : `${age} ago`
}
