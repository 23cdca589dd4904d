import type { BlobStat, BlobStore } from '../artifacts/blob-store.ts'
import type { VerifiedSignature } from '../artifacts/fetcher.ts'
import type { BlobFacts } from '../catalog/build-catalog.ts'
import type { Clock } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import type { StateStore, VerifiedFile } from '../state/store.ts'

/** Which verified files there are, in memory, so that building a snapshot asks no disk. */
export interface BlobIndex {
  /** Files that are as they were when they were verified, in this run or, by the record of it, before (G1). */
  readonly facts: ReadonlyMap<Sha256, BlobFacts>
  /** What lies under a digest and is not as anybody verified it, with its size: for us it is not there. */
  readonly doubtful: ReadonlyMap<Sha256, number>
  /**
   * Takes up a file that was just verified, and its signature where that was checked too; durable when it resolves. A
   * record that cannot be written costs nothing but another reading at the next start.
   */
  add(blob: BlobStat, signature?: VerifiedSignature): Promise<void>
  /** It is gone, or not what it should be. */
  remove(sha256: Sha256): Promise<void>
  /** Looks at the signature of a file again; one that is another now is not handed out any more. */
  recheckSignature(sha256: Sha256): Promise<void>
  usedBytes(): number
}

type Blobs = Pick<BlobStore, 'list' | 'signaturePath' | 'statSignature' | 'readSignature'>
type Records = Pick<StateStore, 'saveVerified' | 'removeVerified' | 'listVerified'>

/**
 * Looks at every file once. What its record describes is believed; whatever else has a name in the store, because it
 * was changed, copied, planted or never recorded, is doubtful until somebody has read it.
 * @throws ServiceError STATE_UNAVAILABLE, STORAGE_FAILED
 */
export async function openBlobIndex(options: {
  readonly blobs: Blobs
  readonly records: Records
  readonly clock: Clock
  readonly log: Log
}): Promise<BlobIndex> {
  const { blobs, records, clock, log } = options
  const recorded = new Map((await records.listVerified()).map((record) => [record.sha256, record]))
  const facts = new Map<Sha256, BlobFacts>()
  const doubtful = new Map<Sha256, number>()
  let isUnrecorded = false

  function believe({ sha256, sizeBytes, modifiedAt, path, identity }: BlobStat): void {
    const signature = recorded.get(sha256)?.signature
    const signed = signature && {
      signaturePath: blobs.signaturePath(sha256),
      signatureIdentity: signature.identity,
    }
    facts.set(sha256, { sizeBytes, modifiedAt, path, identity, ...signed })
    doubtful.delete(sha256)
  }

  /** In memory first: a full disk must not take a good file out of service. */
  async function record(verified: VerifiedFile): Promise<void> {
    const before = recorded.get(verified.sha256)
    recorded.set(verified.sha256, verified)
    if (before !== undefined && isSame(before, verified)) return
    try {
      await records.saveVerified(verified)
      isUnrecorded = false
    } catch (error) {
      if (!isUnrecorded) {
        log.warn(
          { error: String(error) },
          'verified files not recorded, they are read again at the next start',
        )
      }
      isUnrecorded = true
      // Not what is on the disk: the next time, it is written.
      recorded.set(verified.sha256, { ...verified, verifiedAt: 0 })
    }
  }

  async function recheckSignature(sha256: Sha256): Promise<void> {
    const before = recorded.get(sha256)
    if (before?.signature === undefined) return
    const { signature, ...unsigned } = before
    if ((await blobs.statSignature(sha256)) === signature.identity) return
    const found = await blobs.readSignature(sha256).catch(() => undefined)
    const isGood = found?.sha256 === signature.sha256
    if (!isGood) log.warn({ sha256 }, 'the signature of a file is not the one that was verified')
    await record(isGood ? { ...unsigned, signature: found } : unsigned)
    const known = facts.get(sha256)
    if (known === undefined) return
    const { signaturePath: _path, signatureIdentity: _identity, ...rest } = known
    facts.set(sha256, {
      ...rest,
      ...(isGood && { signaturePath: blobs.signaturePath(sha256), signatureIdentity: found.identity }),
    })
  }

  await Promise.all([...recorded.keys()].map(recheckSignature))
  const present = new Set<Sha256>()
  for await (const blob of blobs.list()) {
    present.add(blob.sha256)
    if (recorded.get(blob.sha256)?.identity === blob.identity) believe(blob)
    else doubtful.set(blob.sha256, blob.sizeBytes)
  }
  const gone = [...recorded.keys()].filter((sha256) => !present.has(sha256))
  for (const sha256 of gone) recorded.delete(sha256)
  if (gone.length > 0) await records.removeVerified(gone)

  return {
    facts,
    doubtful,
    async add(blob, signature) {
      const { sha256, identity } = blob
      const kept = signature ?? recorded.get(sha256)?.signature
      await record({ sha256, identity, verifiedAt: clock.now(), ...(kept && { signature: kept }) })
      believe(blob)
    },
    async remove(sha256) {
      facts.delete(sha256)
      doubtful.delete(sha256)
      if (!recorded.delete(sha256)) return
      // One that is left over describes no file that could ever come again.
      await records.removeVerified([sha256]).catch(() => {})
    },
    recheckSignature,
    usedBytes() {
      let sum = 0
      for (const { sizeBytes } of facts.values()) sum += sizeBytes
      return sum
    },
  }
}

function isSame(left: VerifiedFile, right: VerifiedFile): boolean {
  return (
    left.verifiedAt !== 0 &&
    left.identity === right.identity &&
    left.signature?.sha256 === right.signature?.sha256 &&
    left.signature?.identity === right.signature?.identity
  )
}
