import type { BootRequest, BootSources } from './boot-request.ts'
import { type ContentReply, noStore, notHere, notYet, type Reply } from './reply.ts'

/** Of whatever is wrong with a token: nobody learns which. */
export const tokenRefused: ContentReply = notHere(
  'Nothing is here. The URL of an Ignition config or a report is good for one boot and for some time; a new boot gets a new one.',
)
const cannotBeMade = notYet(
  'The Ignition config of this machine cannot be made; the log of the service says why.',
)

/** The type by which Ignition knows its configs. */
const ignitionType = 'application/vnd.coreos.ignition+json'

/** `/ignition/<token>`: the config of one boot, for who holds its token (G12). */
export function answerIgnition(request: BootRequest, { secrets }: BootSources): Reply {
  const { method, params, address, baseUrl } = request
  const isProbe = method === 'HEAD'
  const answer = secrets.ignition(params.token ?? '', { address, baseUrl, isProbe })
  switch (answer.kind) {
    case 'config':
      return {
        kind: 'content',
        status: 200,
        contentType: ignitionType,
        headers: noStore,
        body: Buffer.from(answer.text),
      }
    case 'refused':
      return tokenRefused
    case 'failed':
      // Ignition and coreos-installer ask again, without end, until an admin has mended it.
      return cannotBeMade
  }
}
