import { nodeFileSystem } from '../artifacts/file-system.ts'
import { layoutOf } from '../artifacts/layout.ts'
import { createSpaceCheck, defaultReserveBytes } from '../artifacts/space.ts'
import { artifactsOf, type Bootimage } from '../core/bootimage.ts'
import { isServiceError } from '../core/errors.ts'
import type { GarbageCollector } from '../rollout/collect-garbage.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { Storage } from './storage.ts'

/**
 * The one look at the free space before a set is fetched. Where it is short, what nothing needs goes first; what is
 * current, previous, pinned or being booted stays even then (G6).
 * @throws ServiceError SPACE_INSUFFICIENT, telling bytes needed and free
 */
export async function makeRoom(options: {
  readonly bootimage: Bootimage
  readonly mirrors: readonly string[]
  readonly storage: Pick<Storage, 'directory' | 'blobs'>
  readonly upstream: UpstreamClient
  readonly garbage: Pick<GarbageCollector, 'run'>
}): Promise<void> {
  const { bootimage, mirrors, storage, garbage } = options
  const check = createSpaceCheck({
    fs: nodeFileSystem,
    layout: layoutOf(storage.directory.path),
    reserveBytes: defaultReserveBytes,
    store: storage.blobs,
    upstream: options.upstream,
  })
  const request = { what: bootimage.id, artifacts: artifactsOf(bootimage), mirrors }
  try {
    await check.ensure(request)
  } catch (error) {
    if (!isServiceError(error, 'SPACE_INSUFFICIENT')) throw error
    const { remove } = await garbage.run()
    if (remove.length === 0) throw error
    await check.ensure(request)
  }
}
