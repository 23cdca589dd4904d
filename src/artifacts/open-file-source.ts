import { fileURLToPath } from 'node:url'
import { ServiceError } from '../core/errors.ts'
import { displayUrl } from '../upstream/display-url.ts'
import type { FileSystem, OpenFile } from './file-system.ts'
import type { OpenedSource, SourceRequest } from './source.ts'

const blockBytes = 1 << 20

/** A file that the admin's own document or mirror names; links are followed, devices and pipes are not opened. */
export async function openFileSource(request: SourceRequest, fs: FileSystem): Promise<OpenedSource> {
  try {
    const file = await fs.openForRead(fileURLToPath(request.url), { followLinks: true })
    const { kind, sizeBytes } = await file.stat()
    if (kind !== 'file') {
      await file.close()
      throw new Error('it is not a regular file')
    }
    const body = readBlocks(file, request)
    const discard = async () => {
      await body.return(undefined)
      await file.close()
    }
    return { kind: 'open', source: { startBytes: 0, totalBytes: sizeBytes, body, discard } }
  } catch (error) {
    return { kind: 'failed', outcome: { kind: 'absent' }, error: readError(request, error) }
  }
}

async function* readBlocks(
  file: OpenFile,
  request: SourceRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  const block = new Uint8Array(blockBytes)
  try {
    for (let position = 0; ; ) {
      request.signal.throwIfAborted()
      const bytes = await file.read(block, position)
      if (bytes === 0) return
      position += bytes
      yield block.subarray(0, bytes)
    }
  } catch (error) {
    request.signal.throwIfAborted()
    throw readError(request, error)
  } finally {
    await file.close()
  }
}

function readError({ artifact, url }: SourceRequest, cause: unknown): ServiceError {
  const at = displayUrl(url)
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `reading ${artifact.role} ${artifact.name} from ${at}: ${why}`
  const details = { artifact: artifact.name, url: at, step: 'reading' }
  return new ServiceError('ARTIFACT_UNAVAILABLE', message, details, cause)
}
