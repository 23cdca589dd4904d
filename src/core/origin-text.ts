import type { Origin } from './host.ts'

/** Where a value was written down, for people: `host rack1-n01 (hosts.d/rack1.yaml:5), set by alice at 2026-…`. */
export function originText({ kind, name, file, line, by, at, why }: Origin): string {
  const subject = name === '' ? kind : `${kind} ${name}`
  const place = file === undefined ? '' : ` (${line === undefined ? file : `${file}:${line}`})`
  const who = by === undefined ? '' : `, set by ${by}`
  const when = at === undefined ? '' : ` at ${timeText(at)}`
  return `${subject}${place}${who}${when}${why === undefined ? '' : `: ${why}`}`
}

/** ISO 8601; a number that is no time (`toISOString` would throw) is shown as it is. */
export function timeText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString()
}
