import type { Sha256 } from '../core/digest.ts'
import { isServiceError } from '../core/errors.ts'
import type { BlobStore } from './blob-store.ts'
import type { ArtifactFetcher } from './create-fetcher.ts'

export interface ScrubOptions {
  readonly store: Pick<BlobStore, 'list' | 'stat' | 'quarantine'>
  /** Reads and hashes away from the thread that serves. */
  readonly fetcher: Pick<ArtifactFetcher, 'hash'>
  /** Low for a running service, absent for an admin who waits. */
  readonly bytesPerSecond?: number
  /** After the blob was taken out of service: it must no longer be named in a snapshot, and be fetched again. */
  readonly onBad?: (bad: BadBlob) => void | Promise<void>
  readonly signal?: AbortSignal
}

export interface BadBlob {
  readonly sha256: Sha256
  readonly reason: string
}

export interface ScrubReport {
  readonly checked: number
  readonly bytes: number
  readonly bad: readonly BadBlob[]
}

/**
 * Reads every blob again and takes those that no longer have their digest out of service (G1).
 * @throws ServiceError STORAGE_FAILED when the store itself cannot be listed or written; the signal's reason when aborted
 */
export async function scrub(options: ScrubOptions): Promise<ScrubReport> {
  const { store, onBad, signal } = options
  const bad: BadBlob[] = []
  let checked = 0
  let bytes = 0
  for await (const { sha256, sizeBytes } of store.list()) {
    signal?.throwIfAborted()
    const found = await checkBlob(sha256, options)
    if (found === 'gone') continue
    checked += 1
    bytes += sizeBytes
    if (found === 'good') continue
    bad.push(found)
    await onBad?.(found)
  }
  return { checked, bytes, bad }
}

/**
 * Reads one blob again; a bad one is in quarantine afterwards.
 * @throws ServiceError STORAGE_FAILED when it cannot be read for a reason that says nothing about it
 */
export async function checkBlob(
  sha256: Sha256,
  options: Pick<ScrubOptions, 'fetcher' | 'bytesPerSecond' | 'signal'> & {
    readonly store: Pick<BlobStore, 'quarantine'>
  },
): Promise<'good' | 'gone' | BadBlob> {
  const reason = await whyBad(sha256, options)
  if (reason === undefined) return 'good'
  if (reason === 'gone') return 'gone'
  await options.store.quarantine(sha256, reason)
  return { sha256, reason }
}

/** The disk's own ways to say that it no longer has what was written. */
const damageCodes: ReadonlySet<unknown> = new Set(['EIO', 'EUCLEAN', 'EBADMSG'])

/** Any other failure says nothing about the blob, and must not take it out of service. */
async function whyBad(
  sha256: Sha256,
  { fetcher, bytesPerSecond, signal }: Pick<ScrubOptions, 'fetcher' | 'bytesPerSecond' | 'signal'>,
): Promise<string | undefined> {
  const pace = bytesPerSecond === undefined ? {} : { bytesPerSecond }
  try {
    const found = await fetcher.hash(sha256, { ...pace, ...(signal ? { signal } : {}) })
    if (found === undefined) return 'gone'
    return found === sha256 ? undefined : `expected SHA-256 ${sha256}, found ${found}`
  } catch (error) {
    if (isServiceError(error, 'STORAGE_FAILED') && damageCodes.has(error.details.code)) return error.message
    throw error
  }
}
