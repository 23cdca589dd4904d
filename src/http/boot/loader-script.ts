import { answerScriptName, type SaidByLoader, type ScriptQuestion } from '../../boot/answer-script-name.ts'
import { parseScriptName, type ScriptName } from '../../boot/script-name.ts'
import { archFromGrub } from '../../core/arch.ts'
import type { Firmware } from '../../core/client.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { bootClientFromQuery } from './client-query.ts'
import { firstValue, parseQuery } from './query-string.ts'
import { notHere, type Reply, scriptReply } from './reply.ts'

/**
 * The decision as a GRUB configuration: `/grub/boot?mac=…` as the first configuration asks, and every name that GRUB
 * walks through, below `/grub`, at the root and beside the loader.
 */
export function answerGrubScript(request: BootRequest, sources: BootSources): Reply {
  const { path, query } = request
  const file = path.at(-1) ?? ''
  const said = saidByGrub(query)
  const isQuestion = path.length === 2 && path[0] === 'grub' && file === 'boot'
  // Who asks the question has the first configuration: it is never answered with that one again.
  if (isQuestion)
    return answer({ loader: 'grub', name: { by: 'default' }, said: said ?? {} }, request, sources)
  const name: ScriptName | undefined = parseScriptName('grub', file)
  if (name === undefined) return notHere('GRUB gets nothing but its configuration here.')
  return answer({ loader: 'grub', name, ...(said === undefined ? {} : { said }) }, request, sources)
}

/** The decision as PXELINUX, U-Boot and petitboot read it. */
export function answerPxelinuxScript(request: BootRequest, sources: BootSources): Reply {
  const name = parseScriptName('pxelinux', request.path.at(-1) ?? '')
  if (name === undefined) return notHere('This is no name of a configuration.')
  return answer({ loader: 'pxelinux', name }, request, sources)
}

function answer(
  question: Pick<ScriptQuestion, 'loader' | 'name' | 'said'>,
  { method, baseUrl, address, path, trace }: BootRequest,
  sources: BootSources,
): Reply {
  const isProbe = method === 'HEAD'
  const found = answerScriptName({ ...question, baseUrl, address, fetch: 'http', isProbe, trace }, sources)
  switch (found.kind) {
    case 'script': {
      const reply = scriptReply(found.text)
      return found.isEntry === true ? { ...reply, entryName: path.at(-1) ?? '' } : reply
    }
    case 'failed':
      return scriptReply(found.text, 500)
    case 'not-here':
      return notHere(found.reason)
  }
}

/** `mac`, `uuid`, `arch` (`$grub_cpu`) and `platform` (`$grub_platform`); `undefined` when none of them is said. */
function saidByGrub(query: string): SaidByLoader | undefined {
  const pairs = parseQuery(query)
  const { macs, uuid } = bootClientFromQuery(pairs, undefined)
  const platform = firstValue(pairs, 'platform')
  const arch = archFromGrub(firstValue(pairs, 'arch') ?? '', platform)
  const firmware = firmwareOfGrub(platform)
  if (macs.length === 0 && uuid === undefined && arch === undefined && firmware === undefined)
    return undefined
  return {
    macs,
    ...(uuid === undefined ? {} : { uuid }),
    ...(arch === undefined ? {} : { arch }),
    ...(firmware === undefined ? {} : { firmware }),
  }
}

function firmwareOfGrub(platform: string | undefined): Firmware | undefined {
  if (platform === 'pc') return 'bios'
  if (platform === 'ieee1275') return 'open-firmware'
  return platform === 'efi' ? 'uefi' : undefined
}
