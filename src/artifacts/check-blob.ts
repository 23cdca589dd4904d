import type { Sha256 } from '../core/digest.ts'
import { isServiceError } from '../core/errors.ts'
import type { BlobStat, BlobStore } from './blob-store.ts'
import type { HashedBlob } from './hash-blob.ts'

export interface BadBlob {
  readonly sha256: Sha256
  readonly reason: string
}

export type BlobVerdict =
  | { readonly kind: 'good'; readonly blob: BlobStat }
  | { readonly kind: 'gone' }
  | ({ readonly kind: 'bad' } & BadBlob)

export interface CheckBlobOptions {
  readonly store: Pick<BlobStore, 'quarantine'>
  readonly fetcher: {
    hash(
      sha256: Sha256,
      options: { readonly bytesPerSecond?: number; readonly signal?: AbortSignal },
    ): Promise<HashedBlob | undefined>
  }
  /** Absent: as fast as it goes. */
  readonly bytesPerSecond?: number
  readonly signal?: AbortSignal
}

/**
 * Reads one blob again; a bad one is in quarantine afterwards (G1).
 * @throws ServiceError STORAGE_FAILED when it cannot be read for a reason that says nothing about it
 */
export async function checkBlob(sha256: Sha256, options: CheckBlobOptions): Promise<BlobVerdict> {
  const verdict = await judge(sha256, options)
  if (verdict.kind === 'bad') await options.store.quarantine(sha256, verdict.reason)
  return verdict
}

/** The disk's own ways to say that it no longer has what was written. */
const damageCodes: ReadonlySet<unknown> = new Set(['EIO', 'EUCLEAN', 'EBADMSG'])

/** Any other failure says nothing about the blob, and must not take it out of service. */
async function judge(
  sha256: Sha256,
  { fetcher, bytesPerSecond, signal }: CheckBlobOptions,
): Promise<BlobVerdict> {
  const pace = bytesPerSecond === undefined ? {} : { bytesPerSecond }
  try {
    const found = await fetcher.hash(sha256, { ...pace, ...(signal ? { signal } : {}) })
    if (found === undefined) return { kind: 'gone' }
    if (found.digest === sha256) return { kind: 'good', blob: found.blob }
    return { kind: 'bad', sha256, reason: `expected SHA-256 ${sha256}, found ${found.digest}` }
  } catch (error) {
    if (isServiceError(error, 'STORAGE_FAILED') && damageCodes.has(error.details.code))
      return { kind: 'bad', sha256, reason: error.message }
    throw error
  }
}
