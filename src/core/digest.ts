declare const sha256Brand: unique symbol

/** A SHA-256 digest as 64 lower-case hex digits. */
export type Sha256 = string & { readonly [sha256Brand]: true }

const hex64 = /^[0-9a-f]{64}$/

/** Reads a digest in either case; `undefined` unless it is exactly 64 hex digits. */
export function parseSha256(text: string): Sha256 | undefined {
  const lower = text.toLowerCase()
  return hex64.test(lower) ? (lower as Sha256) : undefined
}
