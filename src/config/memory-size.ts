const pattern = /^([1-9]\d{0,6})(KiB|MiB|GiB)$/
const unitBytes: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Reads `512KiB`, `8MiB`, `1GiB` as bytes; `undefined` for anything else. */
export function parseMemorySize(text: string): number | undefined {
  const [, count, unit = ''] = pattern.exec(text) ?? []
  const bytes = unitBytes[unit]
  return count === undefined || bytes === undefined ? undefined : Number(count) * bytes
}
