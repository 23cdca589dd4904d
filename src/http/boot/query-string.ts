/** Pairs beyond this are ignored: no loader sends a tenth of it. */
const maxPairs = 64

export type QueryPair = readonly [name: string, value: string]

/**
 * Splits a query into decoded pairs, in order. Never fails: what does not decode stays as it is, because a loader
 * with a strange asset tag still has to boot (field case 121). A `+` stays a plus: iPXE's `:uristring` writes a
 * blank as `%20`, and serials do hold plus signs.
 */
export function parseQuery(query: string): readonly QueryPair[] {
  if (query === '') return []
  return query.split('&', maxPairs).map((pair) => {
    const equals = pair.indexOf('=')
    return equals === -1
      ? [decode(pair), '']
      : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
  })
}

/** The first value that says something. */
export function firstValue(pairs: readonly QueryPair[], name: string): string | undefined {
  return pairs.find(([key, value]) => key === name && value !== '')?.[1]
}

function decode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // Not UTF-8: take the bytes one by one rather than lose the whole value.
    return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
}
