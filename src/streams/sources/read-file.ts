import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ServiceError } from '../../core/errors.ts'
import { maxDocumentBytes } from '../parse-document.ts'
import { noDocument, unavailable } from './source-error.ts'

/**
 * A whole file of bounded length; `undefined` when there is none. A path that an admin wrote down may be a link (a
 * mounted ConfigMap is), but never a pipe or a device, on which reading could wait for ever.
 *
 * @throws ServiceError METADATA_UNAVAILABLE, METADATA_INVALID when it is too long
 */
export async function readDocumentFile(path: string): Promise<Uint8Array | undefined> {
  let file: FileHandle | undefined
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await file.stat()).isFile()) throw unavailable(path, 'is not a regular file')
    return await readAll(file, path)
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unavailable(path, `cannot be read (${code ?? message})`, cause)
  } finally {
    await file?.close()
  }
}

async function readAll(file: FileHandle, path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const { bytesRead } = await file.read(chunk, 0, chunk.length, length)
    if (bytesRead === 0) return Buffer.concat(chunks, length)
    length += bytesRead
    if (length > maxDocumentBytes) throw noDocument(path, `a file of more than ${maxDocumentBytes} bytes`)
    chunks.push(chunk.subarray(0, bytesRead))
  }
}
