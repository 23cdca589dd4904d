import { fileURLToPath } from 'node:url'
import { ServiceError } from '../core/errors.ts'
import { displayUrl } from '../upstream/display-url.ts'
import type { FileSystem } from './file-system.ts'
import type { OpenedSource, SourceRequest } from './source.ts'

const blockBytes = 1 << 20

/** A file that the admin's own document or mirror names; links are followed, devices and pipes are not opened. */
export async function openFileSource(
  { artifact, url, signal }: SourceRequest,
  fs: FileSystem,
): Promise<OpenedSource> {
  try {
    const file = await fs.openForRead(fileURLToPath(url), { followLinks: true })
    const stat = await file.stat()
    if (stat.kind !== 'file') {
      await file.close()
      throw new Error('it is not a regular file')
    }
    async function* blocks() {
      const block = new Uint8Array(blockBytes)
      try {
        for (let position = 0; ; ) {
          signal.throwIfAborted()
          const bytes = await file.read(block, position)
          if (bytes === 0) return
          position += bytes
          yield block.subarray(0, bytes)
        }
      } finally {
        await file.close()
      }
    }
    const body = blocks()
    const discard = async () => {
      await body.return()
      await file.close()
    }
    return { kind: 'open', source: { startBytes: 0, totalBytes: stat.sizeBytes, body, discard } }
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause)
    const error = new ServiceError(
      'ARTIFACT_UNAVAILABLE',
      `reading ${artifact.role} ${artifact.name} from ${displayUrl(url)}: ${text}`,
      { artifact: artifact.name, url: displayUrl(url), step: 'reading' },
      cause,
    )
    return { kind: 'failed', outcome: { kind: 'absent' }, error }
  }
}
