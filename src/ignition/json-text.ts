/** A value of a JSON text with the way back to where it stands. */
export interface JsonNode {
  readonly value: unknown
  /** Of the first character. */
  readonly offset: number
  /** Of objects: by key, with the place of the key. */
  readonly members?: ReadonlyMap<string, { readonly node: JsonNode; readonly keyOffset: number }>
  /** Of lists. */
  readonly items?: readonly JsonNode[]
}

export type JsonText =
  | { readonly root: JsonNode }
  /** The rest of a sentence that begins with the text. */
  | { readonly fault: string; readonly offset: number }

const maxDepth = 64
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const blankPattern = /[ \t\r\n]*/y
const wordPattern = /true|false|null/y
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }

class JsonFault extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Reads JSON (RFC 8259) and remembers where everything stands, which `JSON.parse` does not. */
export function parseJsonText(text: string): JsonText {
  try {
    return { root: readDocument(text) }
  } catch (error) {
    if (error instanceof JsonFault) return { fault: error.message, offset: error.offset }
    throw error
  }
}

function readDocument(text: string): JsonNode {
  let at = 0

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }

  function fail(wanted: string): never {
    const found = at >= text.length ? 'the text ends' : `found ${JSON.stringify(text[at])}`
    throw new JsonFault(`${found} where ${wanted} belongs`, at)
  }

  function expectSign(sign: string, wanted: string): void {
    if (text[at] !== sign) fail(wanted)
    at += 1
  }

  function readString(wanted: string): string {
    if (text[at] !== '"') fail(wanted)
    const start = at
    const end = endOfString(text, start)
    try {
      // Nothing but a closed string gets here, so whatever is wrong with it is an escape or a control character.
      at = end
      return JSON.parse(text.slice(start, end)) as string
    } catch {
      const message =
        'the string that begins here does not end on its line, or has an escape that JSON does not know'
      throw new JsonFault(message, start)
    }
  }

  function readValue(depth: number): JsonNode {
    if (depth > maxDepth) throw new JsonFault('it is nested too deeply', at)
    take(blankPattern)
    const offset = at
    if (text[at] === '{') return readObject(depth)
    if (text[at] === '[') return readList(depth)
    if (text[at] === '"') return { value: readString('a value'), offset }
    const word = take(wordPattern)
    if (word !== undefined) return { value: words[word], offset }
    const number = take(numberPattern)
    if (number !== undefined && number !== '') return { value: Number(number), offset }
    return fail('a value')
  }

  function readObject(depth: number): JsonNode {
    const offset = at
    const members = new Map<string, { node: JsonNode; keyOffset: number }>()
    at += 1
    take(blankPattern)
    if (text[at] === '}') at += 1
    else {
      for (;;) {
        take(blankPattern)
        const keyOffset = at
        const key = readString('a key in quotes')
        if (members.has(key)) throw new JsonFault(`the key ${JSON.stringify(key)} is there twice`, keyOffset)
        take(blankPattern)
        expectSign(':', 'a colon')
        members.set(key, { node: readValue(depth + 1), keyOffset })
        take(blankPattern)
        if (text[at] === '}') break
        expectSign(',', 'a comma or }')
      }
      at += 1
    }
    const value = Object.fromEntries([...members].map(([key, { node }]) => [key, node.value]))
    return { value, offset, members }
  }

  function readList(depth: number): JsonNode {
    const offset = at
    const items: JsonNode[] = []
    at += 1
    take(blankPattern)
    if (text[at] === ']') at += 1
    else {
      for (;;) {
        items.push(readValue(depth + 1))
        take(blankPattern)
        if (text[at] === ']') break
        expectSign(',', 'a comma or ]')
      }
      at += 1
    }
    return { value: items.map(({ value }) => value), offset, items }
  }

  const root = readValue(0)
  take(blankPattern)
  if (at < text.length) fail('the end')
  return root
}

/** After the quote that closes it; the end of the line or of the text where none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') return at + 1
    if (sign === '\n') return at
    if (sign === '\\') at += 1
  }
  return text.length
}
