import { parseBootId } from '../../core/boot-event.ts'
import { parseSha256 } from '../../core/digest.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { describeAwaited, findAwaited } from './describe-awaited.ts'
import { firstValue, parseQuery } from './query-string.ts'
import { immutable, notFound, notYet, type Reply, textReply } from './reply.ts'
import { signatureReply } from './signature-reply.ts'

const signatureSuffix = '.sig'

/**
 * `/artifacts/<sha256>/<name>`: a verified file by its digest; the name is for people and may be any, because the
 * same kernel has another name in every release. With `.sig` at the end: its verified signature, where one is kept.
 * `?boot=<id>` keeps that boot's lease alive; an unknown id gets the file all the same.
 */
export function answerArtifact(
  { params, query }: BootRequest,
  { catalog, bootService, onFileProblem }: BootSources,
): Reply | Promise<Reply> {
  const { sha256: digest = '', name = '' } = params
  const sha256 = parseSha256(digest)
  if (sha256 === undefined) return notFound('An artifact is named by the 64 hex digits of its SHA-256.')
  const bootId = parseBootId(firstValue(parseQuery(query), 'boot') ?? '')
  if (bootId !== undefined) bootService.touch(bootId)

  const snapshot = catalog.current()
  const file = snapshot.files.get(sha256)
  if (file !== undefined) {
    // Whoever writes the URL by hand takes the name that the metadata has.
    if (name.endsWith(signatureSuffix) && name !== file.name) return signatureReply(file, onFileProblem)
    return { kind: 'file', file, bootId, headers: immutable }
  }
  if (snapshot.awaited.has(sha256)) {
    const awaited = findAwaited(snapshot, sha256)
    const text = `${describeAwaited(awaited)} It is served as soon as its whole set is verified.`
    // Retry-After makes an iPXE ask on and on without a word. Where the fetch has failed, its script shall go on
    // instead: it says what failed, and asks anew what to boot (G11). Those are the files that loaders fetch.
    const isLoaded = awaited?.artifact.role === 'kernel' || awaited?.artifact.role === 'initramfs'
    return isLoaded && awaited.status.state === 'failed' ? textReply(503, text) : notYet(text)
  }
  return notFound(
    'No verified file here has this digest. Ask /ipxe for the current script, or look for the release with `pilotlight bootimages`.',
  )
}
