const blanks = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/** What a person typed, as one line without invisible characters; `undefined` for nothing. */
export function lineOf(fields: unknown, name: string, most = 200): string | undefined {
  const given =
    typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>)[name] : undefined
  const [value] = [given].flat()
  if (typeof value !== 'string') return undefined
  const line = value
    .slice(0, 4 * most)
    .replace(blanks, ' ')
    .trim()
    .slice(0, most)
  return line === '' ? undefined : line
}

/** One of the words that are possible; others count as nothing said. */
export function wordOf<Word extends string>(
  fields: unknown,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const line = lineOf(fields, name)
  return words.find((word) => word === line)
}

/** A whole number from 1 on. */
export function numberOf(fields: unknown, name: string, most: number): number | undefined {
  const line = lineOf(fields, name)
  if (line === undefined || !/^[1-9]\d{0,8}$/.test(line)) return undefined
  return Math.min(Number(line), most)
}

/** All values of a name that may come several times. */
export function linesOf(fields: unknown, name: string, mostLines: number, most = 64): readonly string[] {
  const given =
    typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>)[name] : undefined
  return [given]
    .flat()
    .slice(0, mostLines)
    .map((value) => lineOf({ value }, 'value', most))
    .filter((line) => line !== undefined)
}

/** The object without what is not there, for schemas that refuse `undefined`. */
export function given<Fields extends object>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>
  }
}
