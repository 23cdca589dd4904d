import { parseArch } from '../../core/arch.ts'
import { handedOut } from '../../core/catalog.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { describeStatus } from './describe-awaited.ts'
import { notFound, notYet, type Reply, revalidate } from './reply.ts'
import { signatureReply } from './signature-reply.ts'
import { describeEmptyStream, unknownStream } from './stream-document.ts'
import { streamPlacesOf } from './stream-layout.ts'

const signatureSuffix = '.sig'

/**
 * `/streams/<stream>/<arch>/<platform>/<format>/<artifact>`: the stable URL of the newest artifact, answered directly
 * because boot clients do not follow redirects (field case 93). `X-Pilotlight-Release` and `X-Pilotlight-Sha256` say
 * which one it is; `.sig` after the artifact gives its signature, where one is kept.
 */
export function answerStreamArtifact(
  { params }: BootRequest,
  { catalog, onFileProblem }: BootSources,
): Reply | Promise<Reply> {
  const snapshot = catalog.current()
  const stream = snapshot.streams.get(params.stream ?? '')
  if (stream === undefined) return unknownStream(snapshot)
  const arch = parseArch(params.arch ?? '')
  const state = arch === undefined ? undefined : stream.byArch.get(arch)
  if (state === undefined) {
    return notFound(
      `Stream ${stream.name} is kept for: ${[...stream.byArch.keys()].join(', ') || 'nothing yet'}.`,
    )
  }
  const { target = state.damaged } = state
  const current = handedOut(state)
  if (current === undefined) {
    return notYet(target === undefined ? describeEmptyStream(stream) : describeStatus(target))
  }

  const { platform, format, artifact = '' } = params
  const isSignature = artifact.endsWith(signatureSuffix)
  const wanted = isSignature ? artifact.slice(0, -signatureSuffix.length) : artifact
  const places = streamPlacesOf(current)
  const place = places.find(
    (candidate) =>
      candidate.platform === platform && candidate.format === format && candidate.artifact === wanted,
  )
  if (place === undefined) {
    const known = places.map((it) => `${it.platform}/${it.format}/${it.artifact}`).join(', ')
    return notFound(`${current.bootimage.release} of ${stream.name} for ${state.arch} has: ${known}.`)
  }
  if (isSignature) return signatureReply(place.file, onFileProblem)
  return {
    kind: 'file',
    file: place.file,
    headers: [
      ...revalidate,
      'X-Pilotlight-Release',
      headerText(current.bootimage.release),
      'X-Pilotlight-Sha256',
      place.file.sha256,
    ],
  }
}

/** Releases are the document's words; a header holds printable ASCII. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '_')
}
