import { createHash } from 'node:crypto'
import type { FileIdentity } from '../core/file-identity.ts'
import type { FileStat, FileSystem } from './file-system.ts'

export interface HashOptions {
  readonly fs: Pick<FileSystem, 'openForRead'>
  readonly path: string
  /** As Node names it; default `sha256`. */
  readonly algorithm?: string
  /** Hashed before and after the file. */
  readonly prefix?: Uint8Array
  readonly suffix?: Uint8Array
  readonly blockBytes: number
  /** Reads no faster; needs `now` and `pause`. */
  readonly pace?: {
    readonly bytesPerSecond: number
    readonly now: () => number
    readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>
  }
  /** The file must be this very one. */
  readonly identity?: FileIdentity
  readonly signal: AbortSignal
}

export interface HashedFile {
  readonly digest: Buffer
  /** Of what was read: nobody changed it meanwhile. */
  readonly stat: FileStat
}

/** Somebody wrote into a file, or put another in its place, while it was read. */
export class FileChangedError extends Error {
  constructor(path: string) {
    super(`${path} changed while it was read`)
    this.name = 'FileChangedError'
  }
}

/**
 * Hashes a file in blocks, yielding between them, at full speed or slowly beside other work.
 * @throws FileChangedError
 */
export async function hashFile(options: HashOptions): Promise<HashedFile> {
  const { fs, path, prefix, suffix, blockBytes, pace, signal } = options
  const file = await fs.openForRead(path)
  try {
    // Whoever has it mapped writes without a trace until the disk has the page: then the next write is seen again.
    await file.sync()
    const before = await file.stat()
    if (before.kind !== 'file') throw new Error(`${path} is not a regular file`)
    const hash = createHash(options.algorithm ?? 'sha256')
    if (prefix) hash.update(prefix)
    const block = Buffer.allocUnsafeSlow(blockBytes)
    const startedAt = pace?.now() ?? 0
    for (let position = 0; ; ) {
      signal.throwIfAborted()
      const bytes = await file.read(block, position)
      if (bytes === 0) break
      hash.update(block.subarray(0, bytes))
      position += bytes
      if (!pace) continue
      const aheadMs = (position * 1000) / pace.bytesPerSecond - (pace.now() - startedAt)
      if (aheadMs > 0) await pace.pause(aheadMs, signal)
    }
    if (suffix) hash.update(suffix)
    const stat = await file.stat()
    if (stat.identity !== (options.identity ?? before.identity)) throw new FileChangedError(path)
    return { digest: hash.digest(), stat }
  } finally {
    await file.close()
  }
}
