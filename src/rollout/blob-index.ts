import type { BlobStat, BlobStore } from '../artifacts/blob-store.ts'
import type { BlobFacts } from '../catalog/build-catalog.ts'
import type { Sha256 } from '../core/digest.ts'

/** Which verified files there are, in memory, so that building a snapshot asks no disk. */
export interface BlobIndex {
  readonly facts: ReadonlyMap<Sha256, BlobFacts>
  add(blob: BlobStat): Promise<void>
  remove(sha256: Sha256): void
  /** Takes up what is on disk now; `true` when that is not what we believed. */
  recheck(sha256: Sha256): Promise<boolean>
  usedBytes(): number
}

type Store = Pick<BlobStore, 'stat' | 'list' | 'signaturePath'>

/** Reads the whole blob store once. */
export async function openBlobIndex(options: {
  readonly blobs: Store
  readonly exists: (path: string) => Promise<boolean>
}): Promise<BlobIndex> {
  const { blobs, exists } = options
  async function factsOf({ sha256, sizeBytes, modifiedAt, path }: BlobStat): Promise<BlobFacts> {
    const signaturePath = blobs.signaturePath(sha256)
    return (await exists(signaturePath))
      ? { sizeBytes, modifiedAt, path, signaturePath }
      : { sizeBytes, modifiedAt, path }
  }

  const found: BlobStat[] = []
  for await (const blob of blobs.list()) found.push(blob)
  const facts = new Map(
    await Promise.all(found.map(async (blob) => [blob.sha256, await factsOf(blob)] as const)),
  )

  return {
    facts,
    async add(blob) {
      facts.set(blob.sha256, await factsOf(blob))
    },
    remove(sha256) {
      facts.delete(sha256)
    },
    async recheck(sha256) {
      const before = facts.get(sha256)
      const blob = await blobs.stat(sha256)
      if (blob === undefined) return facts.delete(sha256)
      facts.set(sha256, await factsOf(blob))
      return before?.sizeBytes !== blob.sizeBytes || before.modifiedAt !== blob.modifiedAt
    },
    usedBytes() {
      let sum = 0
      for (const { sizeBytes } of facts.values()) sum += sizeBytes
      return sum
    },
  }
}
