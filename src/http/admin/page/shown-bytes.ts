const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** Bytes for people, three digits that mean something: `812 B`, `4.7 MiB`, `1.02 GiB`. */
export function shownBytes(bytes: number): string {
  if (!(bytes >= 1024)) return `${Math.max(0, Math.round(bytes)) || 0} B`
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${units[power - 1]}`
}
