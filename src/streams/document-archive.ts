import { createHash, randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { parseSha256, type Sha256 } from '../core/digest.ts'
import { ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { maxDocumentBytes } from './parse-document.ts'

/** An open file, as far as the archive needs one. */
export interface ArchiveFile {
  stat(): Promise<{ readonly kind: 'file' | 'directory' | 'other'; readonly sizeBytes: number }>
  read(buffer: Uint8Array, position: number): Promise<number>
  write(buffer: Uint8Array, position: number): Promise<void>
  /** Data and metadata are on the disk afterwards. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** The few things the archive does with a file system; that of `artifacts/` does them. Errors are those of Node. */
export interface ArchiveFileSystem {
  openForRead(path: string): Promise<ArchiveFile>
  /** A new file; fails when the name is taken. */
  create(path: string): Promise<ArchiveFile>
  list(directory: string): Promise<readonly string[]>
  makeDirectory(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** The names in a directory are on the disk afterwards. */
  syncDirectory(path: string): Promise<void>
}

/** Every document that was ever read, by its digest, so that any past decision can be explained (G8). */
export interface DocumentArchive {
  /**
   * Keeps a document; when the promise resolves it is on the disk, whole.
   * @throws ServiceError STORAGE_FAILED, SPACE_INSUFFICIENT
   */
  write(bytes: Uint8Array): Promise<Sha256>
  /**
   * The bytes, checked against the digest; `undefined` when they are absent or damaged (which is logged).
   * @throws ServiceError STORAGE_FAILED when the file is there and cannot be read
   */
  read(digest: Sha256): Promise<Uint8Array | undefined>
  /** Digests in no order. */
  list(): Promise<readonly Sha256[]>
}

export interface DocumentArchiveOptions {
  /** `<data>/metadata` */
  readonly directory: string
  readonly fs: ArchiveFileSystem
  readonly log: Log
  /** Characters that no other write has; default random. */
  readonly uniqueSuffix?: () => string
}

/**
 * Opens the archive and removes what a crash left half written.
 * @throws ServiceError STORAGE_FAILED, SPACE_INSUFFICIENT
 */
export async function openDocumentArchive(options: DocumentArchiveOptions): Promise<DocumentArchive> {
  const { directory, fs, log, uniqueSuffix = () => randomBytes(8).toString('hex') } = options
  const pathOf = (digest: Sha256) => join(directory, `${digest}.json`)
  const writes = new Map<Sha256, Promise<void>>()

  await storing('opening', directory, async () => {
    await fs.makeDirectory(directory)
    await fs.syncDirectory(dirname(directory))
    for (const name of await fs.list(directory))
      if (name.endsWith('.unfinished')) await fs.remove(join(directory, name))
  })

  /** Write, sync, rename, sync the directory: a name ending in `.json` is never there before its bytes are (G7). */
  async function writeWhole(digest: Sha256, bytes: Uint8Array): Promise<void> {
    const path = pathOf(digest)
    const unfinished = join(directory, `${digest}.${uniqueSuffix()}.unfinished`)
    await storing('writing', path, async () => {
      try {
        const file = await fs.create(unfinished)
        try {
          await file.write(bytes, 0)
          await file.sync()
        } finally {
          await file.close()
        }
        await fs.rename(unfinished, path)
      } catch (error) {
        await fs.remove(unfinished).catch(() => {})
        throw error
      }
      await fs.syncDirectory(directory)
    })
  }

  async function keep(digest: Sha256, bytes: Uint8Array): Promise<void> {
    // A crash may have come between the rename and the sync of the directory, and a write before this one may have
    // failed there: the name must be on the disk before anybody relies on it.
    if (await isWhole(digest)) await storing('syncing', directory, () => fs.syncDirectory(directory))
    else await writeWhole(digest, bytes)
  }

  async function isWhole(digest: Sha256): Promise<boolean> {
    return (await readChecked(digest)) !== undefined
  }

  async function readChecked(digest: Sha256): Promise<Uint8Array | undefined> {
    const bytes = await storing('reading', pathOf(digest), () => readBounded(fs, pathOf(digest)))
    if (bytes === undefined || digestOf(bytes) === digest) return bytes
    log.warn({ path: pathOf(digest) }, 'archived document is damaged')
    return undefined
  }

  return {
    async write(bytes) {
      const digest = digestOf(bytes)
      const writing = writes.get(digest) ?? keep(digest, bytes).finally(() => writes.delete(digest))
      writes.set(digest, writing)
      await writing
      return digest
    },
    read: readChecked,
    async list() {
      const names = await storing('listing', directory, () => fs.list(directory))
      return names.flatMap((name) => parseSha256(/^([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? '') ?? [])
    },
  }
}

function digestOf(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}

async function readBounded(fs: ArchiveFileSystem, path: string): Promise<Uint8Array | undefined> {
  let file: ArchiveFile
  try {
    file = await fs.openForRead(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { kind, sizeBytes } = await file.stat()
    // Nothing of that kind or length was ever written here: as good as damaged.
    if (kind !== 'file' || sizeBytes > maxDocumentBytes) return new Uint8Array()
    const buffer = new Uint8Array(sizeBytes)
    return buffer.subarray(0, await file.read(buffer, 0))
  } finally {
    await file.close()
  }
}

async function storing<T>(step: string, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    const text = `${step} ${path}: ${isFull ? `no space left (${code})` : message}`
    throw new ServiceError(
      isFull ? 'SPACE_INSUFFICIENT' : 'STORAGE_FAILED',
      text,
      { step, path, code },
      cause,
    )
  }
}
