import { dirname } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { parseSha256, type Sha256 } from '../core/digest.ts'
import type { BlobStat, BlobStore } from './blob-store.ts'
import type { FileStat, FileSystem } from './file-system.ts'
import { cleanIncoming } from './incoming-directory.ts'
import { directoriesOf, type Layout } from './layout.ts'
import { readSignature } from './read-signature.ts'
import { storing } from './storage-error.ts'
import { writeDurably } from './write-durably.ts'

/** Makes the directories of the layout and their names durable. Can be repeated. @throws ServiceError STORAGE_FAILED */
export async function prepareLayout(fs: FileSystem, layout: Layout): Promise<void> {
  for (const path of directoriesOf(layout)) {
    await storing('creating', path, () => fs.makeDirectory(path))
  }
  for (const path of [layout.dataDirectory, layout.artifacts]) {
    await storing('syncing', path, () => fs.syncDirectory(path))
  }
  const parent = dirname(layout.dataDirectory)
  await storing('syncing', parent, () => fs.syncDirectory(parent).catch(notOursIsFine))
}

/**
 * Opens the store of a data directory, clearing away what an earlier run left unfinished and cannot be continued (G7).
 * Only the owner of the data directory may call it, before anything is fetched.
 * @throws ServiceError STORAGE_FAILED when the directory cannot be read or written
 */
export async function openBlobStore(options: {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly clock: Clock
}): Promise<BlobStore> {
  await prepareLayout(options.fs, options.layout)
  await cleanIncoming({ ...options, now: options.clock.now() })
  return createBlobStore(options)
}

/** A start looks at every blob; one after the other, each would wait for the one before. */
const shardsAtOnce = 32

/** The store itself; keeps nothing in memory, so that several may look at one directory. */
export function createBlobStore({
  fs,
  layout,
  clock,
}: {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly clock: Clock
}): BlobStore {
  async function stat(sha256: Sha256): Promise<BlobStat | undefined> {
    const path = layout.blob(sha256)
    const found = await storing('looking at', path, () => fs.stat(path))
    if (found?.kind !== 'file') return undefined
    const { sizeBytes, modifiedAt, identity } = found
    return { sha256, sizeBytes, modifiedAt, path, identity }
  }

  async function* list(): AsyncIterable<BlobStat> {
    const names = await storing('listing', layout.blobs, () => fs.list(layout.blobs))
    const shards = names.filter((name) => /^[0-9a-f]{2}$/.test(name)).sort()
    for (let first = 0; first < shards.length; first += shardsAtOnce) {
      for (const blobs of await Promise.all(shards.slice(first, first + shardsAtOnce).map(listShard)))
        yield* blobs
    }
  }

  async function listShard(shard: string): Promise<readonly BlobStat[]> {
    const directory = `${layout.blobs}/${shard}`
    const names = await storing('listing', directory, () => fs.list(directory))
    const blobs = [...names].sort().map((name) => {
      const sha256 = name.startsWith(shard) ? parseSha256(name) : undefined
      return sha256 === name ? stat(sha256) : undefined
    })
    return (await Promise.all(blobs)).filter((blob) => blob !== undefined)
  }

  async function setAside(
    sha256: Sha256,
    isMeant: (kind: FileStat['kind']) => boolean,
    reason: string,
  ): Promise<void> {
    const path = layout.blob(sha256)
    await storing('quarantining', path, async () => {
      const found = await fs.stat(path)
      if (found === undefined || !isMeant(found.kind)) return
      const note = JSON.stringify({ sha256, reason, at: new Date(clock.now()).toISOString() })
      await writeDurably(fs, layout.quarantineReason(sha256), Buffer.from(`${note}\n`))
      await fs.rename(path, await freeName(layout.quarantined(sha256), found.kind))
      await fs.syncDirectory(layout.shard(sha256))
      await fs.syncDirectory(layout.quarantine)
      await fs.remove(layout.signature(sha256))
    })
  }

  /** A rename replaces a file by a file and nothing else. */
  async function freeName(path: string, kind: FileStat['kind']): Promise<string> {
    const before = await fs.stat(path)
    if (before === undefined || (before.kind === 'file' && kind !== 'directory')) return path
    for (let number = 1; ; number += 1) {
      if ((await fs.stat(`${path}.${number}`)) === undefined) return `${path}.${number}`
    }
  }

  return {
    stat,
    list,
    async remove(sha256) {
      const path = layout.blob(sha256)
      await storing('removing', path, async () => {
        // The signature goes last: without its blob it means nothing, and the other way round it would have to be fetched again.
        await fs.remove(path)
        await fs.syncDirectory(layout.shard(sha256)).catch(absentIsFine)
        await fs.remove(layout.signature(sha256))
      })
    },
    async quarantine(sha256, reason) {
      await setAside(sha256, (kind) => kind === 'file', reason)
    },
    async makeWay(sha256) {
      await setAside(sha256, (kind) => kind !== 'file', 'it is not a regular file')
      const path = layout.signature(sha256)
      await storing('quarantining', path, async () => {
        const found = await fs.stat(path)
        if (found === undefined || found.kind === 'file') return
        await fs.rename(path, await freeName(`${layout.quarantined(sha256)}.sig`, found.kind))
      })
    },
    signaturePath: (sha256) => layout.signature(sha256),
    async statSignature(sha256) {
      const path = layout.signature(sha256)
      const found = await storing('looking at', path, () => fs.stat(path))
      return found?.kind === 'file' ? found.identity : undefined
    },
    readSignature: async (sha256) => (await readSignature(fs, layout.signature(sha256)))?.signature,
    async usedBytes() {
      let sum = 0
      for await (const blob of list()) sum += blob.sizeBytes
      return sum
    },
  }
}

/** A data directory that was made for us, below one that we may not read. */
function notOursIsFine(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
}

function absentIsFine(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
