import type { Artifact } from '../core/artifact.ts'
import { type ErrorCode, ServiceError } from '../core/errors.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { displayUrl, withoutLogin } from '../upstream/display-url.ts'
import { artifactLabel } from './artifact-label.ts'
import type { BlobStat } from './blob-store.ts'
import { type Attempt, nextStep } from './download-plan.ts'
import type { FetchRequest } from './fetcher.ts'
import { listResumable, type ResumeNote } from './incoming-directory.ts'
import { IncomingFile } from './incoming-file.ts'
import { locationsOf } from './locations.ts'
import { openSource } from './open-source.ts'
import { ownHeaders } from './own-headers.ts'
import { type Ending, type ReceiveOptions, receive } from './receive.ts'
import type { SourceRequest } from './source.ts'
import { storing } from './storage-error.ts'

export interface DownloadOptions extends ReceiveOptions {
  readonly upstream: UpstreamClient
  /** Resolves after `delayMs`, rejects with the signal's reason. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>
}

type DownloadRequest = Pick<FetchRequest, 'artifact' | 'mirrors' | 'headers'>

/**
 * Gets an artifact from the first location that delivers it right, and stores it (G1, G3, G7). Which location is next
 * is `download-plan`'s decision.
 * @throws ServiceError ARTIFACT_*, UPSTREAM_*, SPACE_INSUFFICIENT, STORAGE_FAILED; the signal's reason when aborted
 */
export async function download(request: DownloadRequest, options: DownloadOptions): Promise<BlobStat> {
  const { artifact } = request
  const locations = locationsOf(artifact, request.mirrors)
  const attempts: Attempt[] = []
  for (;;) {
    options.signal.throwIfAborted()
    const step = nextStep(locations, attempts)
    if (step.kind === 'give-up') throw givingUp(artifact, attempts)
    if (step.delayMs > 0) await options.pause(step.delayMs, options.signal)
    const { url, continues, revalidate } = step
    const headers = ownHeaders(artifact, url, request.headers)
    const ending = await tryLocation({ artifact, url, headers, revalidate, signal: options.signal }, options)
    if (ending.kind === 'stored') {
      await removeUnfinished(artifact, options)
      return ending.blob
    }
    attempts.push({ url, continues, outcome: ending.outcome, error: ending.error })
  }
}

async function tryLocation(request: SourceRequest, options: DownloadOptions): Promise<Ending> {
  const { artifact, url } = request
  const earlier = request.revalidate ? undefined : await openUnfinished(artifact, url, options)
  if (earlier?.kind === 'stored') return earlier
  try {
    const resume = earlier && { ...earlier.note, fromBytes: earlier.incoming.sizeBytes }
    const opened = await openSource(resume ? { ...request, resume } : request, options)
    if (opened.kind === 'failed') {
      await earlier?.incoming.keep()
      return opened
    }
    if (opened.kind === 'not-resumable') {
      await earlier?.incoming.discard()
      return await tryLocation({ ...request, revalidate: true }, options)
    }
    const { source } = opened
    if (earlier && source.startBytes === 0) await earlier.incoming.discard()
    const unfinished = source.startBytes === 0 ? undefined : earlier?.incoming
    return await receive({ artifact, url, source, unfinished }, options)
  } catch (error) {
    // What was there before can still be continued, unless `receive` has already seen to it.
    await earlier?.incoming.keep().catch(() => {})
    throw error
  }
}

type Unfinished =
  | { readonly kind: 'stored'; readonly blob: BlobStat }
  | { readonly kind: 'partial'; readonly note: ResumeNote; readonly incoming: IncomingFile }

/** An earlier transfer from this location; it may even be whole, if the end came right before it was stored. */
async function openUnfinished(
  artifact: Artifact,
  url: string,
  options: DownloadOptions,
): Promise<Unfinished | undefined> {
  const files = await listResumable(options, artifact.sha256)
  const file = files.find(({ note }) => note.url === withoutLogin(url))
  if (file === undefined) return undefined
  let incoming: IncomingFile
  try {
    incoming = await IncomingFile.resume({ ...options, path: file.path })
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof ServiceError)) throw error
    // Read-only already, because it was about to be stored, or unreadable: either way we start anew.
    await removeFile(file.path, options)
    return undefined
  }
  const wholeBytes = artifact.sizeBytes ?? file.note.totalBytes ?? incoming.sizeBytes
  const isWhole = incoming.sizeBytes === wholeBytes && (await incoming.digest()) === artifact.sha256
  if (!isWhole) return { kind: 'partial', note: file.note, incoming }
  const stored = await incoming.commit(artifact.sha256)
  return stored.kind === 'stored' ? stored : undefined
}

async function removeUnfinished({ sha256 }: Artifact, options: DownloadOptions): Promise<void> {
  for (const { path } of await listResumable(options, sha256)) await removeFile(path, options)
}

async function removeFile(path: string, { fs, layout }: DownloadOptions): Promise<void> {
  await storing('removing', path, async () => {
    await fs.remove(layout.resumeNote(path))
    await fs.remove(path)
  })
}

/** What tells an admin most comes first. */
const mostTelling: readonly ErrorCode[] = [
  'ARTIFACT_DIGEST_MISMATCH',
  'ARTIFACT_TOO_LONG',
  'ARTIFACT_EMPTY',
  'ARTIFACT_TRUNCATED',
  'UPSTREAM_STALLED',
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_REFUSED',
  'ARTIFACT_UNAVAILABLE',
]

function givingUp(artifact: Artifact, attempts: readonly Attempt[]): ServiceError {
  const code = mostTelling.find((candidate) => attempts.some(({ error }) => error.code === candidate))
  const telling = attempts.findLast(({ error }) => error.code === code)?.error
  const others = new Set(attempts.map(({ error }) => error.message))
  others.delete(telling?.message ?? '')
  const also = others.size === 0 ? '' : `; also: ${[...others].join('; ')}`
  const details = {
    ...telling?.details,
    artifact: artifact.name,
    sha256: artifact.sha256,
    attempts: attempts.map(({ url, error: { code, message } }) => ({ url: displayUrl(url), code, message })),
  }
  const first = telling?.message ?? `fetching ${artifactLabel(artifact)}: there is no location`
  return new ServiceError(code ?? 'ARTIFACT_UNAVAILABLE', first + also, details, telling?.cause)
}
