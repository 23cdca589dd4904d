import { ServiceError } from '../../core/errors.ts'
import { visibleText } from '../../core/visible-text.ts'

const maxDepth = 64
/** The largest real documents have some thousands; what has a hundred times as many only wants to keep us busy. */
const maxValues = 100_000
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * JSON without the parts that two readers understand differently: names given twice (one reader takes the first,
 * another the last), names of JavaScript's own machinery, nesting and repetition without end.
 *
 * @param where path of the text inside a larger document (`data.stream`), empty for the document itself
 * @throws ServiceError METADATA_INVALID
 */
export function parseJson(text: string, where: string): unknown {
  refuseHostile(text, where)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson(where, cause)
  }
}

/** Walks over the text before it is parsed; it need not be JSON, but what is JSON is understood. */
function refuseHostile(text: string, where: string): void {
  const open: (Set<string> | undefined)[] = []
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (isFollowedByColon(text, end)) addName(open.at(-1), nameAt(text, at, end, where), where)
      at = end
    } else if (character === '{' || character === '[') {
      if (open.length === maxDepth) throw unreadable(where, `nested deeper than ${maxDepth} levels`)
      open.push(character === '{' ? new Set() : undefined)
      values++
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === ',') {
      values++
    }
    if (values > maxValues) throw unreadable(where, `made of more than ${maxValues} values`)
  }
}

function addName(names: Set<string> | undefined, name: string, where: string): void {
  const shown = JSON.stringify(visibleText(name, 80))
  if (names?.has(name)) throw unreadable(where, `ambiguous: the name ${shown} is given twice in one object`)
  if (forbiddenNames.has(name)) throw unreadable(where, `not acceptable: the name ${shown} is not allowed`)
  names?.add(name)
}

function nameAt(text: string, start: number, end: number, where: string): string {
  const written = text.slice(start + 1, end)
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(text.slice(start, end + 1))
  } catch (cause) {
    throw notJson(where, cause)
  }
}

/** The closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function isFollowedByColon(text: string, endOfName: number): boolean {
  let at = endOfName + 1
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

function notJson(where: string, cause: unknown): ServiceError {
  return unreadable(where, `not valid JSON (${visibleText((cause as Error).message, 160)})`, cause)
}

function unreadable(where: string, what: string, cause?: unknown): ServiceError {
  const place = where === '' ? 'the document' : where
  return new ServiceError(
    'METADATA_INVALID',
    `${place} is ${what}`,
    { field: where, found: what, expected: 'JSON' },
    cause,
  )
}
