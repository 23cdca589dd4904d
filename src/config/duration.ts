const pattern = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/

/** Reads `90s`, `15m`, `1h30m`, `2d` as milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text)
  if (match === null || text === '') return undefined
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match
  return 1000 * (Number(seconds) + 60 * (Number(minutes) + 60 * (Number(hours) + 24 * Number(days))))
}
