const date = /^(\d{4})-(\d{2})-(\d{2})$/
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/
const dayMs = 24 * 60 * 60 * 1000

/**
 * Reads the end of a pin as ms since the epoch. A date counts to the end of that day, because that is what people
 * mean by "until"; in UTC, so that every machine agrees. A moment needs its zone: `2026-12-31T18:00:00Z`.
 */
export function parseUntil(text: string): number | undefined {
  const parts = date.exec(text)
  if (parts !== null) {
    const start = Date.parse(`${text}T00:00:00Z`)
    return isCalendarDay(text, start) ? start + dayMs : undefined
  }
  if (!moment.test(text)) return undefined
  const day = text.slice(0, 10)
  const at = Date.parse(text)
  return Number.isNaN(at) || !isCalendarDay(day, Date.parse(`${day}T00:00:00Z`)) ? undefined : at
}

/** `Date.parse` turns 31 February into 3 March. */
function isCalendarDay(text: string, start: number): boolean {
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(text)
}
