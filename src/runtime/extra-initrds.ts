import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Fetcher } from '../artifacts/fetcher.ts'
import type { Sha256 } from '../core/digest.ts'
import type { BootSettings, ExtraInitrd, Inventory } from '../core/host.ts'
import type { Log } from '../core/log.ts'
import type { BlobIndex } from '../rollout/blob-index.ts'

/** Every initrd of an admin's own that some host, group or profile names, once. */
function extraInitrdsOf(inventory: Inventory): readonly ExtraInitrd[] {
  const bySha256 = new Map<Sha256, ExtraInitrd>()
  const places: Iterable<BootSettings>[] = [
    inventory.hostsById.values(),
    inventory.groups,
    inventory.profiles.values(),
  ]
  for (const place of places) {
    for (const { extraInitrds = [] } of place) {
      for (const initrd of extraInitrds) bySha256.set(initrd.sha256, initrd)
    }
  }
  return [...bySha256.values()]
}

/** A name for the URL: as the admin called the file, as far as a script can carry it. */
function initrdName({ path }: ExtraInitrd): string {
  return basename(path).replace(/[^A-Za-z0-9._+-]/g, '_') || 'initrd'
}

/** Admins' initrds in the blob store. */
export interface ExtraInitrds {
  /** Takes in what this inventory names; in the background, since machines that need one wait for it. */
  setWanted(inventory: Inventory): void
  /** Takes one in again that got lost; nothing when it is not wanted. */
  restore(sha256: Sha256): void
  all(): readonly { readonly sha256: Sha256; readonly name: string }[]
  has(sha256: Sha256): boolean
}

/**
 * Copies admins' initrds into the blob store, verified by the digests they wrote down (G1). What does not match is
 * reported and its machines wait.
 */
export function createExtraInitrds(options: {
  readonly fetcher: Pick<Fetcher, 'fetch'>
  readonly blobIndex: BlobIndex
  /** Reads a doubtful file, which is believed or gone afterwards. */
  readonly prove: (sha256: Sha256) => Promise<unknown>
  readonly log: Log
  readonly onIngested: () => void
}): ExtraInitrds {
  const { blobIndex, fetcher, log } = options
  let wanted = new Map<Sha256, ExtraInitrd>()

  async function ingest(initrd: ExtraInitrd): Promise<void> {
    const { path, sha256 } = initrd
    if (blobIndex.doubtful.has(sha256)) await options.prove(sha256).catch(() => {})
    if (blobIndex.facts.has(sha256)) return
    const location = pathToFileURL(path).href
    const artifact = { role: 'initramfs', name: initrdName(initrd), sha256, location } as const
    try {
      const { blob } = await fetcher.fetch({ artifact, mirrors: [], signatures: 'off' })
      await blobIndex.add(blob)
      options.onIngested()
    } catch (error) {
      log.error({ path, sha256, error: String(error) }, 'extra initrd cannot be used')
    }
  }

  return {
    setWanted(inventory) {
      wanted = new Map(extraInitrdsOf(inventory).map((initrd) => [initrd.sha256, initrd]))
      for (const initrd of wanted.values()) void ingest(initrd)
    },
    restore(sha256) {
      const initrd = wanted.get(sha256)
      if (initrd !== undefined) void ingest(initrd)
    },
    all: () => [...wanted.values()].map((initrd) => ({ sha256: initrd.sha256, name: initrdName(initrd) })),
    has: (sha256) => wanted.has(sha256),
  }
}
