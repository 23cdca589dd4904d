import { placeholderBootId } from '../../boot/placeholder-boot-id.ts'
import type { ScriptToken } from '../../render/renderer.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { bootClientFromQuery } from './client-query.ts'
import { answerNobody } from './entry-script.ts'
import { parseQuery } from './query-string.ts'
import { renderScript } from './render-script.ts'
import { notFound, type Reply } from './reply.ts'

/**
 * `/ipxe`: the decision for the machine that asks, as an iPXE script. GET mints a boot id and leaves a trace; HEAD
 * mints nothing. Refusals are complete scripts with status 200 (G11); 404 only where an admin chose it.
 */
export function answerBootScript(request: BootRequest, sources: BootSources): Reply {
  if (request.query === '') return answerNobody(request, sources)
  const { method, query, baseUrl, address, trace } = request
  const { bootService, renderer, secrets, ignoredMachines, log } = sources
  const client = bootClientFromQuery(parseQuery(query), address)
  const { decision, bootId } =
    method === 'HEAD'
      ? { decision: bootService.explain(client), bootId: placeholderBootId }
      : bootService.answer(client, trace)
  if (decision.kind === 'ignore' && ignoredMachines === 'http-404') {
    return notFound(
      'This machine is ignored. Describe it in a hosts.d file to boot it, or set `unknown` to a profile.',
    )
  }
  if (decision.kind === 'local' && decision.method === 'http-404') {
    return notFound(
      'This machine boots from its own disk, and its localBoot is http-404: this answer sends it there.',
    )
  }
  const token = (purpose: ScriptToken) => secrets.scriptToken(purpose, { decision, client, bootId })
  // HEAD mints nothing: a stand-in of the same length is in its place.
  const context = method === 'HEAD' ? { baseUrl, bootId } : { baseUrl, bootId, token }
  return renderScript(() => renderer.ipxe(decision, client, context), baseUrl, log)
}
