import { isServiceError, ServiceError } from '../../core/errors.ts'
import type { UpstreamClient, UpstreamResponse } from '../../upstream/client.ts'
import { displayUrl } from '../../upstream/display-url.ts'
import { maxDocumentBytes } from '../parse-document.ts'
import type { SourceAnswer, SourceRequest, Validators } from './source.ts'
import { noDocument, readAt, unavailable } from './source-error.ts'

/** Where a document is, and how to get there. */
export interface HttpPlace {
  readonly client: Pick<UpstreamClient, 'request'>
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface DocumentRequest
  extends HttpPlace,
    Pick<SourceRequest<unknown>, 'since' | 'fresh' | 'signal'> {}

export interface FetchedDocument {
  readonly kind: 'fetched'
  readonly bytes: Uint8Array
  readonly validators?: Validators
}

/** A validator goes back to its server as it came; what is longer is not worth keeping. */
const maxValidatorLength = 512

/**
 * One document over http(s), whole or not at all: status 200, as long as announced, not compressed, bounded.
 *
 * @throws ServiceError METADATA_UNAVAILABLE, METADATA_INVALID for what is too long or compressed; the message names
 *   the URL and what came. The signal's reason when it was aborted.
 */
export async function fetchDocument(
  request: DocumentRequest & { readonly since?: undefined },
): Promise<FetchedDocument>
export async function fetchDocument(
  request: DocumentRequest,
): Promise<FetchedDocument | { readonly kind: 'unchanged' }>
export async function fetchDocument(
  request: DocumentRequest,
): Promise<FetchedDocument | { readonly kind: 'unchanged' }> {
  const { client, url, since, fresh, signal } = request
  const place = displayUrl(url)
  const asked = since?.url === url && fresh !== true ? since : undefined
  let response: UpstreamResponse
  try {
    response = await client.request({
      url,
      headers: requestHeaders(request, asked),
      ...(signal && { signal }),
    })
  } catch (cause) {
    signal?.throwIfAborted()
    throw unavailable(place, whyOf(cause), cause)
  }
  try {
    if (response.status === 304 && asked !== undefined) return { kind: 'unchanged' }
    if (response.status !== 200) {
      const { status } = response
      throw unavailable(place, `answered with status ${status}`, undefined, { status })
    }
    const bytes = await readBody(place, response, signal)
    const validators = validatorsOf(url, response)
    return { kind: 'fetched', bytes, ...(validators && { validators }) }
  } finally {
    await response.discard()
  }
}

/** `fetchDocument`, read, as the answer of a source. */
export async function answerFrom<T>(
  place: HttpPlace & { readonly viaMirror: boolean },
  { read, ...how }: SourceRequest<T>,
): Promise<SourceAnswer<T>> {
  const { viaMirror, ...where } = place
  const fetched = await fetchDocument({ ...where, ...how })
  const url = displayUrl(place.url)
  if (fetched.kind === 'unchanged') return { kind: 'unchanged', url, viaMirror }
  const { bytes, validators } = fetched
  const document = readAt(url, read, bytes)
  return { kind: 'document', url, viaMirror, bytes, document, ...(validators && { validators }) }
}

function requestHeaders(
  { headers, fresh }: DocumentRequest,
  asked: Validators | undefined,
): Record<string, string> {
  return {
    accept: 'application/json, application/yaml, */*',
    ...headers,
    ...(fresh === true && { 'cache-control': 'no-cache' }),
    ...(asked?.etag !== undefined && { 'if-none-match': asked.etag }),
    ...(asked?.lastModified !== undefined && { 'if-modified-since': asked.lastModified }),
  }
}

async function readBody(
  place: string,
  { headers, body }: UpstreamResponse,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw noDocument(place, `a body compressed with ${encoding.slice(0, 40)}, which nobody asked for`)
  const announced = announcedLength(headers['content-length'])
  if (announced !== undefined && announced > maxDocumentBytes) throw tooLong(place)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > maxDocumentBytes) throw tooLong(place)
      chunks.push(chunk)
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof ServiceError && cause.code === 'METADATA_INVALID') throw cause
    throw unavailable(place, `broke off after ${length} bytes (${(cause as Error).message})`, cause)
  }
  if (announced !== undefined && announced !== length)
    throw unavailable(place, `announced ${announced} bytes and sent ${length}`)
  return Buffer.concat(chunks, length)
}

function announcedLength(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

function validatorsOf(url: string, { headers }: UpstreamResponse): Validators | undefined {
  const etag = bounded(headers.etag)
  const lastModified = bounded(headers['last-modified'])
  if (etag === undefined && lastModified === undefined) return undefined
  return { url, ...(etag && { etag }), ...(lastModified && { lastModified }) }
}

function bounded(header: string | undefined): string | undefined {
  return header !== undefined && header.length <= maxValidatorLength ? header : undefined
}

function tooLong(place: string): ServiceError {
  return noDocument(place, `a body of more than ${maxDocumentBytes} bytes`)
}

/** What went wrong without where: the place is said already. */
function whyOf(error: unknown): string {
  if (isServiceError(error) && typeof error.details.why === 'string') return error.details.why
  return error instanceof Error ? error.message : String(error)
}
