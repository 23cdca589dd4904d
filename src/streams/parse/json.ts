import { ServiceError } from '../../core/errors.ts'
import { visibleText } from '../../core/visible-text.ts'

const maxDepth = 64
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * JSON without the parts that two readers understand differently: names given twice (one reader takes the first,
 * another the last), names of JavaScript's own machinery, nesting without end.
 *
 * @param where path of the text inside a larger document (`data.stream`), empty for the document itself
 * @throws ServiceError METADATA_INVALID
 */
export function parseJson(text: string, where: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw unreadable(where, `not valid JSON (${visibleText((cause as Error).message, 160)})`, cause)
  }
  refuseAmbiguousNames(text, where)
  return value
}

/** Walks over text that is known to be valid JSON. */
function refuseAmbiguousNames(text: string, where: string): void {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') {
      if (open.length === maxDepth) throw unreadable(where, `nested deeper than ${maxDepth} levels`)
      open.push(character === '{' ? new Set() : undefined)
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (isFollowedByColon(text, end)) addName(open.at(-1), JSON.parse(text.slice(at, end + 1)), where)
      at = end
    }
  }
}

function addName(names: Set<string> | undefined, name: string, where: string): void {
  const shown = JSON.stringify(visibleText(name, 80))
  if (names?.has(name)) throw unreadable(where, `ambiguous: the name ${shown} is given twice in one object`)
  if (forbiddenNames.has(name)) throw unreadable(where, `not acceptable: the name ${shown} is not allowed`)
  names?.add(name)
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function isFollowedByColon(text: string, endOfName: number): boolean {
  let at = endOfName + 1
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
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
