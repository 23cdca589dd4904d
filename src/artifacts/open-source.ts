import { ServiceError } from '../core/errors.ts'
import type { UpstreamClient, UpstreamResponse } from '../upstream/client.ts'
import { displayUrl } from '../upstream/display-url.ts'
import { artifactLabel } from './artifact-label.ts'
import type { AttemptOutcome } from './download-plan.ts'
import type { FileSystem } from './file-system.ts'
import { openFileSource } from './open-file-source.ts'
import type { OpenedSource, Source, SourceRequest } from './source.ts'

/** Opens a location for reading, from `resume.fromBytes` on if that can be had. Failures are values; an abort throws. */
export async function openSource(
  request: SourceRequest,
  { upstream, fs }: { readonly upstream: UpstreamClient; readonly fs: FileSystem },
): Promise<OpenedSource> {
  if (request.url.startsWith('file:')) return openFileSource(request, fs)
  let response: UpstreamResponse
  try {
    response = await upstream.request({
      url: request.url,
      headers: headersOf(request),
      signal: request.signal,
    })
  } catch (error) {
    request.signal.throwIfAborted()
    if (!(error instanceof ServiceError)) throw error
    const isRefused = error.code === 'UPSTREAM_REFUSED'
    return { kind: 'failed', outcome: { kind: isRefused ? 'absent' : 'unavailable' }, error }
  }
  const opened = judgeAnswer(response, request)
  if (opened.kind !== 'open') await response.discard()
  return opened
}

function headersOf({ headers, resume, revalidate }: SourceRequest): Record<string, string> {
  return {
    ...headers,
    ...(revalidate ? { 'cache-control': 'no-cache' } : {}),
    ...(resume ? { range: `bytes=${resume.fromBytes}-`, 'if-range': resume.validator } : {}),
  }
}

function judgeAnswer(response: UpstreamResponse, request: SourceRequest): OpenedSource {
  const { status } = response
  const { resume } = request
  if (status === 200) return { kind: 'open', source: sourceOf(response, 0, lengthOf(response)) }
  if (resume && (status === 416 || status === 412)) return { kind: 'not-resumable' }
  if (resume && status === 206) {
    const range = parseContentRange(response.headers['content-range'])
    const fits =
      range?.start === resume.fromBytes &&
      (resume.totalBytes === undefined || range.total === undefined || range.total === resume.totalBytes)
    if (!fits) return { kind: 'not-resumable' }
    return { kind: 'open', source: sourceOf(response, range.start, range.total ?? resume.totalBytes) }
  }
  const error = new ServiceError(
    'ARTIFACT_UNAVAILABLE',
    `fetching ${artifactLabel(request.artifact)} from ${displayUrl(request.url)}: HTTP ${status}`,
    { artifact: request.artifact.name, url: displayUrl(request.url), step: 'fetching', status },
  )
  const isTemporary = status >= 500 || status === 408 || status === 425 || status === 429
  if (!isTemporary) return { kind: 'failed', outcome: { kind: 'absent' }, error }
  const retryAfterMs = parseRetryAfter(response.headers['retry-after'])
  const outcome: AttemptOutcome = {
    kind: 'unavailable',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
  return { kind: 'failed', outcome, error }
}

function sourceOf(response: UpstreamResponse, startBytes: number, totalBytes: number | undefined): Source {
  const { headers } = response
  const validator = strongValidator(headers)
  const suspicion = suspicionOf(headers)
  return {
    startBytes,
    ...(totalBytes === undefined ? {} : { totalBytes }),
    ...(validator === undefined ? {} : { validator }),
    ...(suspicion === undefined ? {} : { suspicion }),
    body: response.body,
    discard: () => response.discard(),
  }
}

/** A weak tag must not be used with `If-Range` (RFC 9110 §13.1.5). */
function strongValidator(headers: UpstreamResponse['headers']): string | undefined {
  const etag = headers.etag
  if (etag?.startsWith('"')) return etag
  return etag === undefined ? headers['last-modified'] : undefined
}

/** An error page with status 200 (field case 130), or bytes that were packed for the way although we asked for them plain. */
function suspicionOf(headers: UpstreamResponse['headers']): string | undefined {
  if (/^\s*text\/html\b/i.test(headers['content-type'] ?? '')) return 'the answer is an HTML page'
  const encoding = headers['content-encoding']
  return encoding && encoding !== 'identity' ? `the answer has content-encoding ${encoding}` : undefined
}

function lengthOf({ headers }: UpstreamResponse): number | undefined {
  const text = headers['content-length'] ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function parseContentRange(text: string | undefined): { start: number; total?: number } | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(text ?? '')
  if (!match) return undefined
  const [, start, end, total] = match
  if (total === '*') return { start: Number(start) }
  // Anything but the whole rest would have to be asked for piece by piece.
  return Number(end) === Number(total) - 1 ? { start: Number(start), total: Number(total) } : undefined
}

/** Only seconds; a date would need to trust two clocks. */
function parseRetryAfter(text: string | undefined): number | undefined {
  return /^\d{1,6}$/.test(text ?? '') ? Number(text) * 1000 : undefined
}
