/**
 * The user classes in option 77. RFC 3004 wants length-prefixed instances; most boot clients send raw text. Bytes whose
 * lengths do not add up are one opaque class (field case 15).
 */
export function readUserClasses(data: Uint8Array | undefined): readonly string[] {
  if (data === undefined || data.length === 0) return []
  return (lengthPrefixed(data) ?? [data]).map((bytes) => String.fromCharCode(...bytes.subarray(0, 255)))
}

function lengthPrefixed(data: Uint8Array): readonly Uint8Array[] | undefined {
  const classes: Uint8Array[] = []
  let at = 0
  while (at < data.length) {
    const length = data[at] as number
    const end = at + 1 + length
    if (length === 0 || end > data.length) return undefined
    classes.push(data.subarray(at + 1, end))
    at = end
  }
  return classes
}
