import { checkBlob } from '../artifacts/check-blob.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import { type BootimageSync, filesOf } from '../rollout/bootimage-sync.ts'
import type { ExtraInitrds } from './extra-initrds.ts'
import type { Storage } from './storage.ts'
import type { SwappableFetcher } from './swappable-fetcher.ts'

export interface FileChecker {
  /**
   * Reads a file again: afterwards it is believed (`true`), or out of service, and in quarantine if it was bad. Single
   * flight. @throws ServiceError when it cannot be read for a reason that says nothing about it
   */
  prove(sha256: Sha256): Promise<boolean>
  /** Has a file fetched again for every set that was ready and needs it. Never rejects. */
  recover(sha256: Sha256): Promise<void>
  /**
   * A file is not as it was verified (G1). Everybody who asks for such a file reports it; it is looked at once. What is
   * missing or damaged leaves the snapshot and is fetched again for every set that was ready. Never rejects.
   */
  recheck(sha256: Sha256): Promise<void>
}

/** Looks at files that are not as they were verified, one look at a time for each. */
export function createFileChecker(options: {
  readonly storage: Pick<Storage, 'blobs' | 'blobIndex' | 'ledger'>
  readonly fetcher: Pick<SwappableFetcher, 'hash'>
  readonly sync: Pick<BootimageSync, 'ensure'>
  readonly extras: Pick<ExtraInitrds, 'restore'>
  readonly publish: () => void
  readonly onBadBlob: () => void
  readonly log: Log
}): FileChecker {
  const { storage, fetcher, log } = options
  const proving = new Map<Sha256, Promise<boolean>>()
  const running = new Map<Sha256, Promise<void>>()

  async function read(sha256: Sha256): Promise<boolean> {
    const { blobs, blobIndex } = storage
    const found = await checkBlob(sha256, { store: blobs, fetcher })
    if (found.kind === 'good') {
      await blobIndex.add(found.blob)
      await blobIndex.recheckSignature(sha256)
    } else {
      if (found.kind === 'bad') {
        options.onBadBlob()
        log.error({ sha256, reason: found.reason }, 'verified file was damaged, it is fetched again')
      }
      await blobIndex.remove(sha256)
    }
    options.publish()
    return found.kind === 'good'
  }

  function prove(sha256: Sha256): Promise<boolean> {
    const looking = proving.get(sha256) ?? read(sha256).finally(() => proving.delete(sha256))
    proving.set(sha256, looking)
    return looking
  }

  async function recover(sha256: Sha256): Promise<void> {
    options.extras.restore(sha256)
    const users = [...storage.ledger.bootimages.values()].filter(
      (record) => record.state === 'ready' && filesOf(record).includes(sha256),
    )
    // Whoever has all its files needs nothing.
    await Promise.all(users.map(({ bootimage }) => options.sync.ensure(bootimage.id)))
  }

  return {
    prove,
    recover,
    recheck(sha256) {
      const looking = running.get(sha256)
      if (looking !== undefined) return looking
      const check = prove(sha256)
        .then(() => recover(sha256))
        .catch((error: unknown) => log.error({ sha256, error: String(error) }, 'file could not be checked'))
        .finally(() => running.delete(sha256))
      running.set(sha256, check)
      return check
    },
  }
}
