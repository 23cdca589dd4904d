import type { BlobStat, BlobStore } from './blob-store.ts'
import { type BadBlob, type CheckBlobOptions, checkBlob } from './check-blob.ts'

export interface ScrubOptions {
  readonly store: Pick<BlobStore, 'list' | 'stat' | 'quarantine'>
  /** Reads and hashes away from the thread that serves. */
  readonly fetcher: CheckBlobOptions['fetcher']
  /** Low for a running service, absent for an admin who waits. */
  readonly bytesPerSecond?: number
  /** The blob has its digest: what was read may be believed from now on. */
  readonly onGood?: (blob: BlobStat) => void | Promise<void>
  /** After the blob was taken out of service: it must no longer be named in a snapshot, and be fetched again. */
  readonly onBad?: (bad: BadBlob) => void | Promise<void>
  readonly signal?: AbortSignal
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
  const { store, onGood, onBad, signal } = options
  const bad: BadBlob[] = []
  let checked = 0
  let bytes = 0
  for await (const { sha256, sizeBytes } of store.list()) {
    signal?.throwIfAborted()
    const found = await checkBlob(sha256, options)
    if (found.kind === 'gone') continue
    checked += 1
    bytes += sizeBytes
    if (found.kind === 'good') {
      await onGood?.(found.blob)
      continue
    }
    const { reason } = found
    bad.push({ sha256, reason })
    await onBad?.({ sha256, reason })
  }
  return { checked, bytes, bad }
}
