import type { Artifact } from '../core/artifact.ts'

export interface Location {
  readonly url: string
  readonly kind: 'mirror' | 'upstream'
}

/**
 * Where an artifact may be found, in the order of trying: mirrors as configured, the document's own location last.
 * A digest makes every mirror trustworthy, so a wrong guess costs one 404 and nothing else.
 *
 * A mirror is a base URL, below which the usual layouts are tried:
 *
 * - the whole path of the original URL (a copy made by rsync or a caching proxy)
 * - its last three parts (`<release>/<arch>/<name>`, a copy of one stream's builds)
 * - the file name alone (a flat directory)
 * - `artifacts/<hex>/<name>` (another Pilotlight)
 * - `sha256/<hex>`, for a signature `sha256/<hex>.sig` (by digest alone)
 *
 * or a URL with placeholders, tried as it is: `{path}`, `{name}`, `{sha256}`.
 */
export function locationsOf(
  { location, name, sha256 }: Pick<Artifact, 'location' | 'name' | 'sha256'>,
  mirrors: readonly string[],
): readonly Location[] {
  return mirrored(mirrors, { location, name, byDigest: `sha256/${sha256}`, sha256 })
}

/** The same for the detached signature of an artifact, whose own location the document names. */
export function signatureLocationsOf(
  { signature, name, sha256 }: Pick<Artifact, 'signature' | 'name' | 'sha256'>,
  mirrors: readonly string[],
): readonly Location[] {
  if (signature === undefined) return []
  return mirrored(mirrors, {
    location: signature,
    name: `${name}.sig`,
    byDigest: `sha256/${sha256}.sig`,
    sha256,
  })
}

interface Wanted {
  readonly location: string
  readonly name: string
  readonly byDigest: string
  readonly sha256: string
}

function mirrored(mirrors: readonly string[], wanted: Wanted): readonly Location[] {
  const urls = mirrors.flatMap((mirror) => mirrorUrls(wanted, mirror))
  const unique = [...new Set(urls)].filter((url) => url !== wanted.location)
  return [
    ...unique.map((url): Location => ({ url, kind: 'mirror' })),
    { url: wanted.location, kind: 'upstream' },
  ]
}

// `new URL` writes braces in a path as %7B and %7D; a mirror may have been through it already.
const placeholder = /(?:\{|%7B)(path|name|sha256)(?:\}|%7D)/gi

function mirrorUrls({ location, name, byDigest, sha256 }: Wanted, mirror: string): readonly string[] {
  // Already percent-encoded, and free of dot segments: that is how URLs come out of the parser.
  const path = URL.canParse(location) ? new URL(location).pathname.replace(/^\/+/, '') : ''
  const parts = path.split('/')
  const fileName = parts.at(-1) || encodeURIComponent(name)
  const values: Readonly<Record<string, string>> = { path: path || fileName, name: fileName, sha256 }
  if (mirror.search(placeholder) !== -1) {
    const filled = mirror.replace(placeholder, (_, key: string) => values[key.toLowerCase()] ?? '')
    // A base URL ends with a slash wherever it was configured as one; a file does not.
    return URL.canParse(filled) ? [filled.replace(/\/$/, '')] : []
  }
  const base = mirror.endsWith('/') ? mirror : `${mirror}/`
  const tails = [
    path || fileName,
    parts.slice(-3).join('/') || fileName,
    fileName,
    `artifacts/${sha256}/${fileName}`,
    byDigest,
  ]
  return URL.canParse(base) ? tails.map((tail) => base + tail) : []
}
