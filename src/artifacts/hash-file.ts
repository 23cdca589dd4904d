import { createHash } from 'node:crypto'
import type { FileSystem } from './file-system.ts'

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
  readonly signal: AbortSignal
}

/** Hashes a file in blocks, yielding between them, at full speed or slowly beside other work. */
export async function hashFile(options: HashOptions): Promise<Buffer> {
  const { fs, path, prefix, suffix, blockBytes, pace, signal } = options
  const file = await fs.openForRead(path)
  try {
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
    return hash.digest()
  } finally {
    await file.close()
  }
}
