import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Artifact } from '../core/artifact.ts'
import type { Sha256 } from '../core/digest.ts'
import { type ErrorCode, ServiceError } from '../core/errors.ts'
import type { BlobStat } from './blob-store.ts'
import type { FileSystem } from './file-system.ts'
import { FileChangedError } from './hash-file.ts'
import { IncomingFile } from './incoming-file.ts'
import type { Layout } from './layout.ts'
import { storing } from './storage-error.ts'

/** Ten times the largest kernel there is; bounds what a few packed bytes can become. */
const largestKernelBytes = 512 * 2 ** 20

export interface GunzipOptions {
  readonly fs: FileSystem
  readonly layout: Layout
  /** What the store has under a digest, if it really has it. */
  readonly prove: (sha256: Sha256) => Promise<BlobStat | undefined>
  readonly blockBytes: number
  readonly largestBytes?: number
  readonly signal: AbortSignal
}

/**
 * Stores an unpacked copy of a gzip kernel under its own digest; `undefined` when the kernel is not gzip (field case 108).
 * The copy derives from a verified file and goes through the same door, so it counts as verified (G1).
 * @throws ServiceError ARTIFACT_DIGEST_MISMATCH when the document says what it should unpack to and it does not, or it is
 *   no proper gzip; ARTIFACT_TOO_LONG; STORAGE_FAILED; SPACE_INSUFFICIENT
 */
export async function gunzipKernel(
  artifact: Artifact,
  kernel: BlobStat,
  options: GunzipOptions,
): Promise<BlobStat | undefined> {
  const { fs, layout, prove, blockBytes, signal } = options
  const known = artifact.uncompressedSha256 && (await prove(artifact.uncompressedSha256))
  if (known) return known
  if (!(await startsLikeGzip(fs, kernel.path))) return undefined
  const path = layout.incomingFile(artifact.sha256, randomBytes(8).toString('hex'))
  const incoming = await IncomingFile.create({ fs, layout, path, blockBytes })
  try {
    const unpacked = await unpack(artifact, kernel, incoming, options)
    signal.throwIfAborted()
    const expected = artifact.uncompressedSha256 ?? unpacked
    if (unpacked !== expected) throw wrongDigest(artifact, expected, unpacked)
    // Unpacked before: the file that is being served keeps its inode and its date.
    const already = await prove(unpacked)
    if (already) return already
    const stored = await incoming.commit(unpacked)
    if (stored.kind === 'stored') return stored.blob
    throw wrongDigest(artifact, unpacked, stored.found)
  } finally {
    await incoming.discard()
  }
}

function wrongDigest(artifact: Artifact, expected: Sha256, found: Sha256): ServiceError {
  return unpackError(artifact, 'ARTIFACT_DIGEST_MISMATCH', `expected SHA-256 ${expected}, found ${found}`)
}

/** The digest of what was unpacked: of these bytes, whatever becomes of the file. */
async function unpack(
  artifact: Artifact,
  kernel: BlobStat,
  incoming: IncomingFile,
  { fs, blockBytes, largestBytes = largestKernelBytes, signal }: GunzipOptions,
): Promise<Sha256> {
  const hash = createHash('sha256')
  const packed = Readable.from(readBlocks(fs, kernel, blockBytes, signal), { objectMode: false })
  const gunzip = createGunzip()
  packed.on('error', (error) => gunzip.destroy(error))
  try {
    for await (const chunk of packed.pipe(gunzip) as AsyncIterable<Uint8Array>) {
      if (incoming.sizeBytes + chunk.length > largestBytes) {
        throw unpackError(artifact, 'ARTIFACT_TOO_LONG', `it unpacks to more than ${largestBytes} bytes`)
      }
      hash.update(chunk)
      await incoming.append(chunk)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ServiceError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw unpackError(artifact, 'ARTIFACT_DIGEST_MISMATCH', `it is no proper gzip: ${why}`, error)
  } finally {
    packed.destroy()
    gunzip.destroy()
  }
  if (incoming.sizeBytes === 0) throw unpackError(artifact, 'ARTIFACT_EMPTY', 'it unpacks to nothing')
  return hash.digest('hex') as Sha256
}

async function startsLikeGzip(fs: FileSystem, path: string): Promise<boolean> {
  return storing('reading', path, async () => {
    const file = await fs.openForRead(path)
    try {
      const magic = new Uint8Array(2)
      return (await file.read(magic, 0)) === 2 && magic[0] === 0x1f && magic[1] === 0x8b
    } finally {
      await file.close()
    }
  })
}

/** The bytes that were verified and no others: what is made from them counts as verified (G1). */
async function* readBlocks(
  fs: FileSystem,
  { path, identity }: BlobStat,
  blockBytes: number,
  signal: AbortSignal,
) {
  const file = await storing('opening', path, () => fs.openForRead(path))
  try {
    for (let position = 0; ; ) {
      signal.throwIfAborted()
      const block = new Uint8Array(blockBytes)
      const bytes = await storing('reading', path, async () => {
        const filled = await file.read(block, position)
        if ((await file.stat()).identity !== identity) throw new FileChangedError(path)
        return filled
      })
      if (bytes === 0) return
      position += bytes
      yield block.subarray(0, bytes)
    }
  } finally {
    await file.close()
  }
}

function unpackError(artifact: Artifact, code: ErrorCode, why: string, cause?: unknown): ServiceError {
  const details = { artifact: artifact.name, sha256: artifact.sha256, step: 'unpacking' }
  return new ServiceError(code, `unpacking ${artifact.role} ${artifact.name}: ${why}`, details, cause)
}
