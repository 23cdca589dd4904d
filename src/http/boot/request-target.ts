/** The longest request target that is read; a request line of 8 KiB passes (field case 121). */
export const maxTargetLength = 8192
const maxSegments = 16
const maxSegmentLength = 255

export type RequestTarget =
  | {
      readonly kind: 'path'
      /** Decoded, never empty, never `.` or `..`. */
      readonly segments: readonly string[]
      /** Raw text after the `?`; empty when there is none. */
      readonly query: string
    }
  | { readonly kind: 'refused'; readonly status: 400 | 414; readonly reason: string }

/** RFC 3986 `pchar` without percent-encoding: what a path may hold, spelt out or decoded. */
const pathCharacters = /^[A-Za-z0-9._~:@!$&'()*+,;=-]+$/
const authority = /^https?:\/\/[^/?#]*/i
const percentEncoded = /%([0-9A-Fa-f]{2})/g

/**
 * Reads the raw request target (RFC 9112 §3.2): origin-form, or absolute-form as proxies send it, whose authority is
 * ignored because the Host of a request is never believed. Paths are parsed, not joined: doubled slashes count as one
 * (shim asks for `//grubx64.efi`), `.` segments vanish, and everything that could climb (`..` in any spelling,
 * back-slashes, a percent-encoded slash, NUL, an encoded percent sign) is refused (field case 75).
 */
export function parseRequestTarget(target: string): RequestTarget {
  if (target.length > maxTargetLength) {
    return {
      kind: 'refused',
      status: 414,
      reason: `the request line is longer than ${maxTargetLength} bytes`,
    }
  }
  const local = target.replace(authority, '')
  const questionMark = local.indexOf('?')
  const path = questionMark === -1 ? local : local.slice(0, questionMark)
  const query = questionMark === -1 ? '' : local.slice(questionMark + 1)
  if (!path.startsWith('/') && !(path === '' && local !== target)) {
    return refused('the request target is not a path')
  }

  const segments: string[] = []
  for (const raw of path.split('/')) {
    if (raw === '' || raw === '.') continue
    const segment = raw.includes('%') ? decodeSegment(raw) : raw
    if (!pathCharacters.test(segment)) return refused('the path holds characters that no name here has')
    if (segment === '..') return refused('the path climbs out of its folder')
    if (segment === '.') continue
    if (segment.length > maxSegmentLength) return refused('a name in the path is too long')
    segments.push(segment)
    if (segments.length > maxSegments) return refused('the path has too many parts')
  }
  return { kind: 'path', segments, query }
}

function refused(reason: string): RequestTarget {
  return { kind: 'refused', status: 400, reason }
}

/** Decodes once. A stray `%` stays and is refused by the caller, as is any byte that no name has. */
function decodeSegment(raw: string): string {
  return raw.replace(percentEncoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
