/** One element of DER: its tag byte, its content, and all of it. */
export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  readonly whole: Buffer
}

export const derTag = {
  integer: 0x02,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
  /** `[0]`, constructed: explicit content and PKCS #7's certificates alike. */
  context0: 0xa0,
} as const

/** The element at the start of the bytes; `undefined` when it is cut, indefinite or of a tag with several bytes. */
export function readDer(bytes: Buffer): DerElement | undefined {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  let length = first
  let start = 2
  if (first >= 0x80) {
    const digits = first & 0x7f
    if (digits === 0 || digits > 4 || bytes.length < 2 + digits) return undefined
    length = bytes.readUIntBE(2, digits)
    start += digits
  }
  const end = start + length
  if (end > bytes.length) return undefined
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(0, end) }
}

/** The elements that follow each other in a content, as far as they can be read. */
export function derElements(content: Buffer): readonly DerElement[] {
  const elements: DerElement[] = []
  let rest = content
  while (rest.length > 0) {
    const element = readDer(rest)
    if (element === undefined) break
    elements.push(element)
    rest = rest.subarray(element.whole.length)
  }
  return elements
}
