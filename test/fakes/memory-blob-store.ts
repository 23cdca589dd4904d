import { createHash } from 'node:crypto'
import type { BlobStat, BlobStore } from '../../src/artifacts/blob-store.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { fileIdentity } from '../../src/core/file-identity.ts'

export interface MemoryBlobStore extends BlobStore {
  put(bytes: Uint8Array): Sha256
  readonly quarantined: ReadonlyMap<Sha256, string>
}

/** The blob store without a disk. */
export function createMemoryBlobStore(now: () => number = () => 0): MemoryBlobStore {
  const blobs = new Map<Sha256, BlobStat>()
  const quarantined = new Map<Sha256, string>()
  let writes = 0n
  return {
    quarantined,
    put(bytes) {
      const sha256 = createHash('sha256').update(bytes).digest('hex') as Sha256
      writes += 1n
      const identity = fileIdentity({ ino: writes, size: BigInt(bytes.length), mtimeNs: 0n, ctimeNs: 0n })
      const path = `/memory/${sha256}`
      blobs.set(sha256, { sha256, sizeBytes: bytes.length, modifiedAt: now(), path, identity })
      return sha256
    },
    async stat(sha256) {
      return blobs.get(sha256)
    },
    async *list() {
      for (const sha256 of [...blobs.keys()].sort()) {
        const blob = blobs.get(sha256)
        if (blob) yield blob
      }
    },
    async remove(sha256) {
      blobs.delete(sha256)
    },
    async quarantine(sha256, reason) {
      if (blobs.delete(sha256)) quarantined.set(sha256, reason)
    },
    async makeWay() {},
    statSignature: async () => undefined,
    readSignature: async () => undefined,
    signaturePath: (sha256) => `/memory/${sha256}.sig`,
    async usedBytes() {
      return [...blobs.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    },
  }
}
