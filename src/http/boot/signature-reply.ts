import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ServedFile } from '../../core/catalog.ts'
import { type FileIdentity, fileIdentity } from '../../core/file-identity.ts'
import type { BootSources } from './boot-request.ts'
import { octetStream } from './content-type.ts'
import { notFound, notYet, type Reply, revalidate } from './reply.ts'

/** Real ones have some hundred bytes. */
const maxSignatureBytes = 64 * 1024

/** The detached signature that was good when the file came in, where one is kept. */
export async function signatureReply(
  { sha256, signaturePath: path, signatureIdentity }: ServedFile,
  onFileProblem: BootSources['onFileProblem'],
): Promise<Reply> {
  if (path === undefined) {
    return notFound(
      'No verified signature of this file is kept: its stream names none or does not check signatures.',
    )
  }
  const body = await readSmallFile(path, signatureIdentity)
  if (body === undefined) {
    onFileProblem(sha256, 'changed-since-verified')
    return notYet('The signature of this file cannot be read. `pilotlight verify` checks what is kept.', 30)
  }
  const etag = `"${createHash('sha256').update(body).digest('hex')}"`
  return { kind: 'content', status: 200, contentType: octetStream, headers: revalidate, body, etag }
}

/** @param identity of the file as it was verified: no other is read */
async function readSmallFile(path: string, identity: FileIdentity | undefined): Promise<Buffer | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat({ bigint: true })
      if (!stats.isFile() || stats.size === 0n || stats.size > maxSignatureBytes) return undefined
      if (fileIdentity(stats) !== identity) return undefined
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}
