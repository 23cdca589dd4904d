import { createHash } from 'node:crypto'
import type { Arch } from '../core/arch.ts'
import type { Bootimage } from '../core/bootimage.ts'
import type { Sha256 } from '../core/digest.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { DocumentRecord } from '../state/store.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { displayUrl } from '../upstream/display-url.ts'
import type { DocumentArchive } from './document-archive.ts'
import type { Metadata, MetadataFormat, ParseHints, ReleaseIndex } from './metadata.ts'
import { parseDocument, parseMetadata } from './parse-document.ts'
import { resolveBootimages } from './resolve.ts'
import { fetchDocument } from './sources/fetch-document.ts'
import { readAt } from './sources/source-error.ts'

/** A release that somebody wants by name. */
export interface WantedRelease {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
}

export interface FoundDocument {
  readonly bytes: Uint8Array
  readonly digest: Sha256
  readonly format: MetadataFormat
  readonly label?: string
  /** URL or file path it came from. */
  readonly source: string
}

export type ReleaseFinding =
  | { readonly kind: 'found'; readonly bootimage: Bootimage; readonly document: FoundDocument }
  /**
   * `reason` says where was looked and what was there instead. `isUpstreamSilent`: the index could not be read, so it
   * may be there all the same.
   */
  | { readonly kind: 'not-found'; readonly reason: string; readonly isUpstreamSilent?: true }

export interface FindReleaseOptions {
  /** Archived documents of that stream, in any order. */
  readonly documents: readonly Pick<DocumentRecord, 'digest' | 'source' | 'firstSeenAt'>[]
  readonly archive: Pick<DocumentArchive, 'read'>
  /** As configured for this stream. */
  readonly hints: ParseHints
  /** Of the stream's source, for documents that came from files. */
  readonly sourceBaseUrl?: string
  /** `releases.json` of the stream, and who fetches it; absent: only the archive is searched. */
  readonly index?: { readonly url: string; readonly client: Pick<UpstreamClient, 'request'> }
  readonly signal?: AbortSignal
}

/**
 * Finds a release that is no longer current: in the archive, then through the release index (facts §5). What does not
 * name exactly this release for exactly this architecture is not used (G5). Of several documents that name it the one
 * seen first counts: a later one with other digests is a republication, which is held (G8).
 *
 * @throws ServiceError STORAGE_FAILED when the archive cannot be read; the signal's reason when it was aborted
 */
export async function findRelease(
  wanted: WantedRelease,
  options: FindReleaseOptions,
): Promise<ReleaseFinding> {
  const archived = await searchArchive(wanted, options)
  if (archived !== undefined) return archived
  const { index, documents } = options
  const inArchive = `none of ${documents.length} archived documents has it`
  if (index === undefined) return notFound(`${inArchive}, and no release index is configured`)
  try {
    return await searchIndex(wanted, index, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!isServiceError(error)) throw error
    return { ...notFound(`${inArchive}; ${error.message}`), isUpstreamSilent: true }
  }
}

async function searchArchive(
  wanted: WantedRelease,
  options: FindReleaseOptions,
): Promise<ReleaseFinding | undefined> {
  const { documents, archive, signal } = options
  const oldestFirst = [...documents].sort((a, b) => a.firstSeenAt - b.firstSeenAt)
  for (const { digest, source } of oldestFirst) {
    signal?.throwIfAborted()
    const bytes = await archive.read(digest)
    // Most documents do not even contain the text: no need to parse thousands of them.
    if (bytes === undefined || !mentions(bytes, wanted.release)) continue
    const metadata = readArchived(bytes, hintsFor(source, options))
    if (metadata === undefined) continue
    const bootimage = bootimageIn(metadata, wanted)
    if (bootimage !== undefined) return found(bootimage, { bytes, source, metadata })
  }
  return undefined
}

function mentions({ buffer, byteOffset, byteLength }: Uint8Array, release: string): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes(release)
}

/** It parsed once; with other hints, or in another version of this program, it may not any more. */
function readArchived(bytes: Uint8Array, hints: ParseHints): Metadata | undefined {
  try {
    const parsed = parseDocument(bytes, hints)
    return parsed.format === 'release-index' ? undefined : parsed
  } catch (error) {
    if (!isServiceError(error, 'METADATA_INVALID')) throw error
    return undefined
  }
}

async function searchIndex(
  wanted: WantedRelease,
  { url, client }: NonNullable<FindReleaseOptions['index']>,
  options: FindReleaseOptions,
): Promise<ReleaseFinding> {
  const { signal } = options
  const index = await fetchReleaseIndex({ url, client, signal })
  const entry = index.releases.find(({ version }) => version === wanted.release)
  if (entry === undefined)
    return notFound(`not among the ${index.releases.length} releases of ${displayUrl(url)}`)
  const source = displayUrl(entry.metadata)
  const bytes = await fetchBytes(client, entry.metadata, signal)
  const metadata = readAt(source, (body) => parseMetadata(body, hintsFor(source, options)), bytes)
  const bootimage = bootimageIn(metadata, wanted)
  return bootimage === undefined
    ? notFound(`${source}: ${whyNotUsed(metadata, wanted)}`)
    : found(bootimage, { bytes, source, metadata })
}

/**
 * All releases of a stream, as its `releases.json` lists them.
 * @throws ServiceError METADATA_INVALID, METADATA_UNAVAILABLE, UPSTREAM_*; the signal's reason when it was aborted
 */
export async function fetchReleaseIndex({
  url,
  client,
  signal,
}: NonNullable<FindReleaseOptions['index']> & { readonly signal?: AbortSignal }): Promise<ReleaseIndex> {
  return readAt(displayUrl(url), readIndex, await fetchBytes(client, url, signal))
}

function readIndex(bytes: Uint8Array): ReleaseIndex {
  const parsed = parseDocument(bytes)
  if (parsed.format === 'release-index') return parsed
  throw new ServiceError('METADATA_INVALID', `the document is not a release index but a ${parsed.format}`, {
    field: 'releases',
    found: parsed.format,
    expected: 'release-index',
  })
}

async function fetchBytes(
  client: Pick<UpstreamClient, 'request'>,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  return (await fetchDocument({ client, url, ...(signal && { signal }) })).bytes
}

/** What the configuration says, else where the document lay, else where the stream's documents lie now. */
function hintsFor(source: string, { hints, sourceBaseUrl }: FindReleaseOptions): ParseHints {
  const besideIt = /^https?:/.test(source) ? new URL('.', source).href : sourceBaseUrl
  const baseUrl = hints.baseUrl ?? besideIt
  return { ...hints, ...(baseUrl !== undefined && { baseUrl }) }
}

function bootimageIn(metadata: Metadata, { stream, arch, release }: WantedRelease): Bootimage | undefined {
  const { bootimages } = resolveBootimages(metadata, stream)
  return bootimages.find((bootimage) => bootimage.arch === arch && bootimage.release === release)
}

function whyNotUsed(metadata: Metadata, { stream, arch, release }: WantedRelease): string {
  const { bootimages, problems } = resolveBootimages(metadata, stream)
  const other = bootimages.find((bootimage) => bootimage.arch === arch)
  if (other !== undefined) return `is ${other.release} for ${arch}, not ${release}`
  const problem = problems.find((entry) => entry.arch === arch)
  return problem === undefined ? `has nothing for ${arch}` : problem.message
}

function found(
  bootimage: Bootimage,
  { bytes, source, metadata }: { bytes: Uint8Array; source: string; metadata: Metadata },
): ReleaseFinding {
  const digest = createHash('sha256').update(bytes).digest('hex') as Sha256
  const { format, label } = metadata
  return {
    kind: 'found',
    bootimage,
    document: { bytes, digest, format, source, ...(label !== undefined && { label }) },
  }
}

function notFound(reason: string): Extract<ReleaseFinding, { readonly kind: 'not-found' }> {
  return { kind: 'not-found', reason }
}
