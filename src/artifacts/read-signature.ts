import { createHash } from 'node:crypto'
import type { Sha256 } from '../core/digest.ts'
import type { VerifiedSignature } from './fetcher.ts'
import type { FileSystem } from './file-system.ts'
import { FileChangedError } from './hash-file.ts'
import { storing } from './storage-error.ts'

/** The largest signature file that is read; real ones have a few hundred bytes. */
export const largestSignatureBytes = 64 * 1024

/** A signature file, whatever it is worth, as it was when it was read. */
export interface KeptSignature {
  readonly bytes: Uint8Array
  readonly signature: VerifiedSignature
}

/** What lies where a signature would; `undefined` for what cannot be one. @throws ServiceError STORAGE_FAILED */
export async function readSignature(
  fs: Pick<FileSystem, 'stat' | 'openForRead'>,
  path: string,
): Promise<KeptSignature | undefined> {
  return storing('reading', path, async () => {
    if ((await fs.stat(path))?.kind !== 'file') return undefined
    const file = await fs.openForRead(path)
    try {
      const { kind, sizeBytes, identity } = await file.stat()
      if (kind !== 'file' || sizeBytes === 0 || sizeBytes > largestSignatureBytes) return undefined
      const bytes = new Uint8Array(sizeBytes)
      await file.read(bytes, 0)
      if ((await file.stat()).identity !== identity) throw new FileChangedError(path)
      return { bytes, signature: { sha256: signatureDigest(bytes), identity } }
    } finally {
      await file.close()
    }
  })
}

export function signatureDigest(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}
