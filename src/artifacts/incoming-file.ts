import { createHash } from 'node:crypto'
import type { Sha256 } from '../core/digest.ts'
import { isSameContent } from '../core/file-identity.ts'
import type { BlobStat } from './blob-store.ts'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { FileChangedError } from './hash-file.ts'
import type { Layout } from './layout.ts'
import { storing } from './storage-error.ts'

/** Large enough that reading and writing dominate, small enough not to be felt beside serving (facts/performance.md §5). */
export const defaultBlockBytes = 1 << 20

/**
 * After so many blocks the disk is asked to write what it has, while more arrives: the sync at the end, for which the
 * caller waits, has little left to do.
 */
const blocksPerSync = 64

export interface IncomingFileOptions {
  readonly fs: FileSystem
  readonly layout: Layout
  /** Below `layout.incoming`. */
  readonly path: string
  readonly blockBytes: number
  readonly signal?: AbortSignal
}

export type Commit =
  | { readonly kind: 'stored'; readonly blob: BlobStat }
  | { readonly kind: 'mismatch'; readonly found: Sha256 }

/**
 * A blob on its way in. Bytes are gathered into blocks, and one block is written while the next one fills. What is
 * verified is the file, not what was written to it: it is read back and hashed once everything is on the disk, and no
 * name in the store appears before (G1, G7). Hashing the bytes as they pass would cost as much and say less.
 */
export class IncomingFile {
  readonly path: string
  readonly #options: IncomingFileOptions
  readonly #file: OpenFile
  #block: Buffer
  #spare: Buffer
  #filled = 0
  /** Bytes before the current block. */
  #position: number
  #writing: Promise<void> | undefined
  #syncing: Promise<void> | undefined
  /** Blocks since the last sync began. */
  #unsynced = 0
  #isOpen = true

  private constructor(options: IncomingFileOptions, file: OpenFile, position: number) {
    this.#options = options
    this.#file = file
    this.#position = position
    this.#block = Buffer.allocUnsafeSlow(options.blockBytes)
    this.#spare = Buffer.allocUnsafeSlow(options.blockBytes)
    this.path = options.path
  }

  static async create(options: IncomingFileOptions): Promise<IncomingFile> {
    const file = await storing('creating', options.path, () => options.fs.create(options.path))
    return new IncomingFile(options, file, 0)
  }

  /** Goes on with an unfinished file. */
  static async resume(options: IncomingFileOptions): Promise<IncomingFile> {
    const { fs, path } = options
    return storing('opening', path, async () => {
      const file = await fs.openForWrite(path)
      try {
        return new IncomingFile(options, file, (await file.stat()).sizeBytes)
      } catch (error) {
        await file.close()
        throw error
      }
    })
  }

  get sizeBytes(): number {
    return this.#position + this.#filled
  }

  /** Takes bytes; waits only when both blocks are full. @throws ServiceError STORAGE_FAILED, SPACE_INSUFFICIENT */
  async append(bytes: Uint8Array): Promise<void> {
    let taken = 0
    while (taken < bytes.length) {
      const part = bytes.subarray(taken, taken + this.#block.length - this.#filled)
      this.#block.set(part, this.#filled)
      this.#filled += part.length
      taken += part.length
      if (this.#filled === this.#block.length) await this.#turnBlock()
    }
  }

  /** The digest of what is in the file now. @throws ServiceError STORAGE_FAILED, also when somebody changes it meanwhile */
  async digest(): Promise<Sha256> {
    return (await this.#read()).digest
  }

  /** Write → fsync → verify → rename → fsync directory. With any other digest the store is left alone. */
  async commit(expected: Sha256 | undefined): Promise<Commit> {
    const { fs, layout } = this.#options
    await this.#flush()
    await storing('syncing', this.path, async () => {
      await this.#file.setMode(0o444)
      await this.#file.sync()
    })
    const { digest: found, stat: verified } = await this.#read()
    if (expected !== undefined && found !== expected) return { kind: 'mismatch', found }
    const path = layout.blob(found)
    return storing('storing', path, async () => {
      await fs.makeDirectory(layout.shard(found))
      await fs.rename(this.path, path)
      await fs.syncDirectory(layout.shard(found))
      // Always, since an earlier run may have made the shard and not have come to this line.
      await fs.syncDirectory(layout.blobs)
      await fs.remove(layout.resumeNote(this.path))
      // Of the file that we wrote, not of whatever has its name by now; after the rename, which counts as a change.
      const stored = await this.#file.stat()
      await this.#close()
      const named = await fs.stat(path)
      if (named?.identity !== stored.identity || !isSameContent(stored.identity, verified.identity)) {
        await fs.remove(path)
        throw new FileChangedError(this.path)
      }
      const { sizeBytes, modifiedAt, identity } = stored
      return { kind: 'stored', blob: { sha256: found, sizeBytes, modifiedAt, path, identity } }
    })
  }

  /** Leaves what has arrived on the disk, to go on later. Fine after `commit` and `discard`. */
  async keep(): Promise<void> {
    if (!this.#isOpen) return
    try {
      await this.#flush()
    } finally {
      await this.#close()
    }
  }

  /** Takes the file away. Fine after `commit`. */
  async discard(): Promise<void> {
    await this.#writing?.catch(() => {})
    await this.#syncing?.catch(() => {})
    await this.#close()
    const { fs, layout } = this.#options
    await storing('removing', this.path, async () => {
      await fs.remove(layout.resumeNote(this.path))
      await fs.remove(this.path)
    })
  }

  /** Reads the file back through the descriptor that wrote it. */
  async #read(): Promise<{ readonly digest: Sha256; readonly stat: FileStat }> {
    await this.#flush()
    return storing('reading', this.path, async () => {
      const before = await this.#file.stat()
      const hash = createHash('sha256')
      // Nothing is in them: everything is written.
      let block = this.#block
      let next = this.#spare
      let reading = this.#file.read(block, 0)
      for (let position = 0; ; ) {
        const bytes = await reading
        if (bytes === 0) break
        position += bytes
        reading = this.#file.read(next, position)
        reading.catch(() => {})
        this.#options.signal?.throwIfAborted()
        hash.update(block.subarray(0, bytes))
        ;[block, next] = [next, block]
      }
      const stat = await this.#file.stat()
      if (stat.identity !== before.identity) throw new FileChangedError(this.path)
      return { digest: hash.digest('hex') as Sha256, stat }
    })
  }

  /** Starts writing the current block, and goes on with the other one. */
  async #turnBlock(): Promise<void> {
    await this.#writing
    const full = this.#block.subarray(0, this.#filled)
    const position = this.#position
    const writing = storing('writing', this.path, () => this.#file.write(full, position))
    this.#writing = writing
    // Whoever waits for it gets the failure; until then it must not count as unhandled.
    writing.catch(() => {})
    this.#unsynced += 1
    if (this.#unsynced >= blocksPerSync) await this.#syncBehind(writing)
    this.#position += full.length
    this.#filled = 0
    const next = this.#spare
    this.#spare = this.#block
    this.#block = next
  }

  /** A failed sync must reach the caller: the disk tells of lost data once, and the next sync would say that all is well. */
  async #syncBehind(writing: Promise<void>): Promise<void> {
    await this.#syncing
    this.#unsynced = 0
    this.#syncing = writing.then(() => storing('syncing', this.path, () => this.#file.sync()))
    this.#syncing.catch(() => {})
  }

  async #flush(): Promise<void> {
    if (this.#filled > 0) await this.#turnBlock()
    await this.#writing
    await this.#syncing
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#file.close()
  }
}
