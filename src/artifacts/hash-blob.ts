import type { Sha256 } from '../core/digest.ts'
import { isServiceError } from '../core/errors.ts'
import type { BlobStat, BlobStore } from './blob-store.ts'
import { FileChangedError, type HashOptions, hashFile } from './hash-file.ts'
import { storing } from './storage-error.ts'

/** What a file in the store really holds, and the file as it was read. */
export interface HashedBlob {
  readonly digest: Sha256
  readonly blob: BlobStat
}

/** Files are replaced whole and seldom; one that never holds still is somebody's doing. */
const mostTries = 3

/**
 * Reads a blob and hashes it; `undefined` when it is absent.
 * @throws ServiceError STORAGE_FAILED when it cannot be read, or changes each time it is
 */
export async function hashBlob(
  sha256: Sha256,
  options: Pick<HashOptions, 'fs' | 'blockBytes' | 'pace' | 'signal'> & {
    readonly store: Pick<BlobStore, 'stat'>
  },
): Promise<HashedBlob | undefined> {
  const { store, signal } = options
  for (let tries = 1; ; tries += 1) {
    const found = await store.stat(sha256)
    if (found === undefined) return undefined
    try {
      const { digest, stat } = await storing('reading', found.path, () =>
        hashFile({ ...options, path: found.path }),
      )
      const { sizeBytes, modifiedAt, identity } = stat
      return { digest: digest.toString('hex') as Sha256, blob: { ...found, sizeBytes, modifiedAt, identity } }
    } catch (error) {
      signal.throwIfAborted()
      const wasReplaced = isServiceError(error) && error.cause instanceof FileChangedError
      if (wasReplaced && tries < mostTries) continue
      // Removed by garbage collection between the look and the opening.
      if ((await store.stat(sha256)) === undefined) return undefined
      throw error
    }
  }
}
