import { randomBytes } from 'node:crypto'
import type { Artifact } from '../core/artifact.ts'
import { type ErrorCode, ServiceError } from '../core/errors.ts'
import { displayUrl, withoutLogin } from '../upstream/display-url.ts'
import { artifactLabel } from './artifact-label.ts'
import type { BlobStat } from './blob-store.ts'
import type { AttemptOutcome } from './download-plan.ts'
import type { FetchEvent } from './fetcher.ts'
import type { FileSystem } from './file-system.ts'
import { writeNote } from './incoming-directory.ts'
import { IncomingFile } from './incoming-file.ts'
import type { Layout } from './layout.ts'
import { createProgressMeter } from './progress-meter.ts'
import type { Source } from './source.ts'
import { checkFreeSpace } from './space.ts'

/** No network-boot artifact is near this; it bounds a source that never ends when no length is known. */
const largestArtifactBytes = 16 * 2 ** 30

export interface ReceiveOptions {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly blockBytes: number
  /** Free bytes that are left alone. */
  readonly reserveBytes: number
  readonly now: () => number
  readonly onEvent: (event: FetchEvent) => void
  readonly signal: AbortSignal
}

export interface Transfer {
  readonly artifact: Artifact
  readonly url: string
  readonly source: Source
  /** The earlier part that the source continues. */
  readonly unfinished: IncomingFile | undefined
}

export type Ending =
  | { readonly kind: 'stored'; readonly blob: BlobStat }
  | { readonly kind: 'failed'; readonly outcome: AttemptOutcome; readonly error: ServiceError }

/**
 * Takes the bytes of one source into the store, if they are right. What the source does wrong is a value.
 * @throws ServiceError SPACE_INSUFFICIENT, STORAGE_FAILED; the signal's reason when aborted
 */
export async function receive(transfer: Transfer, options: ReceiveOptions): Promise<Ending> {
  const { artifact, source, unfinished } = transfer
  const limit = Math.min(source.totalBytes ?? Infinity, artifact.sizeBytes ?? Infinity, largestArtifactBytes)
  if (source.totalBytes !== undefined && source.totalBytes > limit) {
    await source.discard()
    await unfinished?.discard()
    return tooLong(transfer, limit, `${source.totalBytes} are announced`)
  }
  let incoming = unfinished
  let isResumable = unfinished !== undefined
  try {
    const expectedBytes = source.totalBytes ?? artifact.sizeBytes ?? 0
    await checkFreeSpace(options, Math.max(0, expectedBytes - source.startBytes), artifact.name)
    if (incoming === undefined) {
      incoming = await createIncoming(artifact, options)
      isResumable = await noteOrigin(incoming, transfer, options)
    }
    options.onEvent({
      type: 'started',
      sha256: artifact.sha256,
      url: displayUrl(transfer.url),
      resumedAtBytes: source.startBytes,
    })
    const stop = await pour(transfer, incoming, limit, options)
    return await conclude(transfer, { incoming, isResumable, limit, stop }, options)
  } catch (error) {
    await source.discard()
    // An abort is no fault of the bytes; a full or failing disk is better off without them.
    if (options.signal.aborted && isResumable) await incoming?.keep().catch(() => {})
    else await incoming?.discard().catch(() => {})
    throw error
  }
}

/** Why the bytes stopped: the source ended, sent too much, or failed. */
type Stop = 'end' | 'too-long' | ServiceError

async function pour(
  { artifact, source }: Transfer,
  incoming: IncomingFile,
  limit: number,
  { now, onEvent, signal }: ReceiveOptions,
): Promise<Stop> {
  const meter = createProgressMeter(incoming.sizeBytes, now())
  const totalBytes = source.totalBytes ?? artifact.sizeBytes
  const total = totalBytes === undefined ? {} : { totalBytes }
  const body = source.body[Symbol.asyncIterator]()
  for (;;) {
    let next: IteratorResult<Uint8Array>
    try {
      next = await body.next()
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ServiceError) return error
      throw error
    }
    if (next.done) return 'end'
    if (incoming.sizeBytes + next.value.length > limit) {
      await source.discard()
      return 'too-long'
    }
    await incoming.append(next.value)
    const doneBytes = incoming.sizeBytes
    const bytesPerSecond = meter.advance(doneBytes, now())
    if (bytesPerSecond === undefined) continue
    onEvent({ type: 'progress', sha256: artifact.sha256, doneBytes, ...total, bytesPerSecond })
  }
}

interface Arrived {
  readonly incoming: IncomingFile
  readonly isResumable: boolean
  readonly limit: number
  readonly stop: Stop
}

async function conclude(
  transfer: Transfer,
  { incoming, isResumable, limit, stop }: Arrived,
  options: ReceiveOptions,
): Promise<Ending> {
  const { artifact, source } = transfer
  const { sizeBytes } = incoming
  if (stop === 'too-long') {
    await incoming.discard()
    return tooLong(transfer, limit, 'more are coming')
  }
  const isShort = source.totalBytes !== undefined && sizeBytes < source.totalBytes
  if (stop !== 'end' || (isShort && sizeBytes > 0)) {
    const isKept = isResumable && sizeBytes > 0
    await (isKept ? incoming.keep() : incoming.discard())
    const gainedBytes = isKept ? sizeBytes - source.startBytes : 0
    return broken(transfer, sizeBytes, { kind: 'cut', gainedBytes }, stop)
  }
  if (sizeBytes === 0) {
    await incoming.discard()
    return wrong(transfer, 'ARTIFACT_EMPTY', 'no bytes came', artifact.sizeBytes ?? '> 0', 0)
  }
  options.onEvent({ type: 'verifying', sha256: artifact.sha256 })
  const stored = await incoming.commit(artifact.sha256)
  if (stored.kind === 'stored') return stored
  await incoming.discard()
  const why = `expected SHA-256 ${artifact.sha256}, found ${stored.found} over ${sizeBytes} bytes`
  return wrong(transfer, 'ARTIFACT_DIGEST_MISMATCH', why, artifact.sha256, stored.found)
}

async function createIncoming({ sha256 }: Artifact, options: ReceiveOptions): Promise<IncomingFile> {
  const path = options.layout.incomingFile(sha256, randomBytes(8).toString('hex'))
  return IncomingFile.create({ ...options, path })
}

/** `false` when the source gives nothing to recognise the file by: then an unfinished one is of no use. */
async function noteOrigin(
  incoming: IncomingFile,
  { url, source: { validator, totalBytes } }: Transfer,
  options: ReceiveOptions,
): Promise<boolean> {
  if (validator === undefined) return false
  const total = totalBytes === undefined ? {} : { totalBytes }
  await writeNote(options, incoming.path, { url: withoutLogin(url), validator, ...total })
  return true
}

function tooLong(transfer: Transfer, limit: number, found: string): Ending {
  const isKnown = limit < largestArtifactBytes
  const expected = isKnown ? `expected ${limit} bytes` : `expected at most ${limit} bytes`
  return wrong(transfer, 'ARTIFACT_TOO_LONG', `${expected}, ${found}`, limit, found)
}

function wrong(transfer: Transfer, code: ErrorCode, why: string, expected: unknown, found: unknown): Ending {
  const { suspicion } = transfer.source
  const explained = suspicion === undefined ? why : `${why} (${suspicion})`
  const outcome = { kind: 'bad-content', wasResumed: transfer.unfinished !== undefined } as const
  return { kind: 'failed', outcome, error: transferError(transfer, code, explained, { expected, found }) }
}

function broken(transfer: Transfer, sizeBytes: number, outcome: AttemptOutcome, stop: Stop): Ending {
  const { totalBytes } = transfer.source
  const cause = stop instanceof ServiceError ? stop : undefined
  const code = cause?.code === 'UPSTREAM_STALLED' ? cause.code : 'ARTIFACT_TRUNCATED'
  const ofTotal = totalBytes === undefined ? '' : ` of ${totalBytes}`
  const why = `${code === 'UPSTREAM_STALLED' ? 'stalled' : 'broke off'} after ${sizeBytes}${ofTotal} bytes`
  const facts = { expected: totalBytes, found: sizeBytes }
  return { kind: 'failed', outcome, error: transferError(transfer, code, why, facts, cause) }
}

function transferError(
  { artifact, url }: Transfer,
  code: ErrorCode,
  why: string,
  facts: { readonly expected: unknown; readonly found: unknown },
  cause?: unknown,
): ServiceError {
  const at = displayUrl(url)
  const details = { artifact: artifact.name, role: artifact.role, url: at, step: 'fetching', ...facts }
  const message = `fetching ${artifactLabel(artifact)} from ${at}: ${why}`
  return new ServiceError(code, message, details, cause)
}
