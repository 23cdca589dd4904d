import { shownPath } from '../core/shown-path.ts'

/** Longer names are refused (field case 73). */
const longestNameBytes = 512

declare const pathBrand: unique symbol
/** A relative path of printable ASCII with `/` between its parts; no part is empty, `.`, or dots alone. */
export type TftpPath = string & { readonly [pathBrand]: true }

export type FileNameRefusal = 'name-too-long' | 'name-empty' | 'name-climbs'

export type ParsedFileName =
  | { readonly kind: 'path'; readonly path: TftpPath }
  | { readonly kind: 'refused'; readonly reason: FileNameRefusal }

/** Where readable text ends: at a NUL, a control byte, or a byte above ASCII. */
function readableEnd(rawName: Buffer): number {
  const end = rawName.findIndex((byte) => byte < 0x20 || byte >= 0x7f)
  return end === -1 ? rawName.length : end
}

/**
 * Reads the file name of a request. What follows the first byte that is no printable ASCII is dropped: ROMs read on
 * into the END option and beyond (field case 24). Backslashes, doubled slashes, `./` and a leading slash do not matter
 * (case 73); names that climb are refused before anything is opened (case 75). Percent signs mean themselves.
 */
export function parseFileName(rawName: Buffer): ParsedFileName {
  if (rawName.length > longestNameBytes) return { kind: 'refused', reason: 'name-too-long' }
  const parts = rawName
    .toString('latin1', 0, readableEnd(rawName))
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  if (parts.some((part) => /^\.+$/.test(part.trim()))) return { kind: 'refused', reason: 'name-climbs' }
  if (parts.length === 0) return { kind: 'refused', reason: 'name-empty' }
  return { kind: 'path', path: parts.join('/') as TftpPath }
}

/** A name for people, whatever its bytes; for events about names that were refused. */
export function displayName(rawName: Buffer): string {
  return shownPath(rawName.toString('latin1', 0, 128).replace(/[^\x20-\x7e]/g, '?'))
}
