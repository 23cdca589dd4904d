import { type Field, invalidField, text } from './field.ts'

const maxNameLength = 128

/**
 * An absolute http, https or file URL, verbatim where the document has one, else joined with `base`.
 * A `file:` URL must lie below a base that is itself one: a document from the network cannot name our own files.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function location(field: Field, base: string | undefined): string {
  const written = text(field, 'an absolute http or https URL')
  // `new URL` would silently drop tabs and turn backslashes around; a document that needs it is not to be trusted.
  if (/[\s\\]/.test(written)) throw invalidField(field, 'a URL without spaces or backslashes')
  const isAbsolute = URL.canParse(written)
  const url = isAbsolute ? new URL(written) : joined(field, written, base)
  if (url.username !== '' || url.password !== '')
    throw invalidField(field, 'a URL without credentials', 'a URL with credentials')
  if (url.protocol === 'file:') refuseForeignFile(field, url, base)
  else if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidField(field, 'an absolute http or https URL')
  return isAbsolute ? written : url.href
}

function joined(field: Field, written: string, base: string | undefined): URL {
  if (base === undefined)
    throw invalidField(field, 'an absolute URL (a relative one needs a base URL in the configuration)')
  // `//host/…` would leave the base's host.
  if (written.startsWith('//') || !URL.canParse(written, base))
    throw invalidField(field, 'an absolute http or https URL or a relative path')
  return new URL(written, base)
}

function refuseForeignFile(field: Field, url: URL, base: string | undefined): void {
  const directory = base !== undefined && URL.canParse('.', base) ? new URL('.', base) : undefined
  const isBelow = directory?.protocol === 'file:' && url.href.startsWith(directory.href)
  const hidesSeparators = /%(?:2f|5c|00)/i.test(url.href)
  if (!isBelow || hidesSeparators)
    throw invalidField(field, 'an http or https URL, or a file below the configured base URL')
}

/** `path` of a build document, a bare file name, behind the directory that holds the build. */
export function buildLocation(field: Field, directory: string): string {
  const name = text(field, 'a file name')
  if (!/^[A-Za-z0-9._+~=,@-]+$/.test(name) || name === '.' || name === '..')
    throw invalidField(field, 'a bare file name')
  return location({ path: field.path, value: `${directory}${name}` }, directory)
}

/** A base URL that ends in `/`, as documents' `baseURI` should and configured ones may not. */
export function directoryUrl(field: Field, base: string | undefined): string {
  const url = location(field, base)
  return url.endsWith('/') ? url : `${url}/`
}

/**
 * The file name at the end of a location, safe to show and to put into our own URLs: what is not in
 * `A-Za-z0-9._+-` becomes `-`. Only a name; the digest is what identifies the file.
 */
export function fileName(url: string, fallback: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  const safe = last.replace(/[^A-Za-z0-9._+-]/g, '-').slice(-maxNameLength)
  return /[A-Za-z0-9]/.test(safe) && !safe.startsWith('.') ? safe : fallback
}
