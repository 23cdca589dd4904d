import { ServiceError } from '../../../core/errors.ts'

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

/** Of a form, whole: what is too long is shown again as it was typed. */
export function typedLine(form: unknown, name: string): string | undefined {
  return lineOf(form, name, mostTyped)
}

const mostTyped = 16 * 1024

/**
 * What a person typed into a form that changes something: cut in silence it would say what nobody meant.
 * @throws ServiceError USAGE when it is longer than `most`
 */
export function formLine(form: unknown, name: string, most = 200): string | undefined {
  const line = typedLine(form, name)
  if (line === undefined || line.length <= most) return line
  throw new ServiceError(
    'USAGE',
    `nothing was changed: ${name} has ${line.length} characters, and may have ${most}`,
    {
      hint: 'shorten it, and send it again',
    },
  )
}

/** One of the words that are possible; others count as nothing said, and `wrongWords` tells of them. */
export function wordOf<Word extends string>(
  fields: unknown,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const line = lineOf(fields, name)
  return words.find((word) => word === line)
}

/** Says which of these values are none of their words, and what they may be; `undefined`: all are. */
export function wrongWords(
  fields: unknown,
  possible: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const wrong = Object.entries(possible).flatMap(([name, words]) => {
    const line = lineOf(fields, name, 64)
    if (line === undefined || words.includes(line)) return []
    return [`There is no ${name} ${JSON.stringify(line)}, so it is left out; there are ${words.join(', ')}.`]
  })
  return wrong.length === 0 ? undefined : wrong.join(' ')
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
