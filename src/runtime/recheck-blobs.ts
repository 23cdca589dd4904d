import { checkBlob } from '../artifacts/scrub.ts'
import { artifactsOf } from '../core/bootimage.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import type { BootimageSync } from '../rollout/bootimage-sync.ts'
import type { ExtraInitrds } from './extra-initrds.ts'
import type { Storage } from './storage.ts'
import type { SwappableFetcher } from './swappable-fetcher.ts'

/**
 * Looks at files that are not as they were verified (G1). Everybody who asks for such a file reports it; it is looked
 * at once. What is missing or damaged leaves the snapshot and is fetched again for every set that was ready.
 * The returned function never rejects.
 */
export function createBlobRechecker(options: {
  readonly storage: Pick<Storage, 'blobs' | 'blobIndex' | 'ledger'>
  readonly fetcher: SwappableFetcher
  readonly sync: Pick<BootimageSync, 'ensure'>
  readonly extras: Pick<ExtraInitrds, 'restore'>
  readonly publish: () => void
  readonly onBadBlob: () => void
  readonly log: Log
}): (sha256: Sha256) => Promise<void> {
  const { storage, fetcher, log } = options
  const running = new Map<Sha256, Promise<void>>()

  async function look(sha256: Sha256): Promise<void> {
    const found = await checkBlob(sha256, { store: storage.blobs, fetcher })
    if (typeof found === 'object') {
      options.onBadBlob()
      log.error(found, 'verified file was damaged, it is fetched again')
    }
    await storage.blobIndex.recheck(sha256)
    options.publish()
    options.extras.restore(sha256)
    const damaged = [...storage.ledger.bootimages.values()].filter(
      ({ state, bootimage, kernelUncompressed }) =>
        state === 'ready' &&
        (kernelUncompressed === sha256 ||
          artifactsOf(bootimage).some((artifact) => artifact.sha256 === sha256)),
    )
    await Promise.all(damaged.map(({ bootimage }) => options.sync.ensure(bootimage.id)))
  }

  return function recheck(sha256) {
    const looking = running.get(sha256)
    if (looking !== undefined) return looking
    const check = look(sha256)
      .catch((error: unknown) => log.error({ sha256, error: String(error) }, 'file could not be checked'))
      .finally(() => running.delete(sha256))
    running.set(sha256, check)
    return check
  }
}
