import type { TraceId } from '../core/boot-event.ts'
import type { BootClient } from '../core/client.ts'
import { isServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { SeenMachines } from '../core/seen-machines.ts'
import type { Renderer, ScriptToken } from '../render/renderer.ts'
import type { BootService } from './boot-service.ts'
import { failureScript } from './failure-script.ts'
import { placeholderBootId } from './placeholder-boot-id.ts'
import { archOfVariant, type NamingLoader, type ScriptName } from './script-name.ts'
import type { SecretService } from './secret-service.ts'

/** What a loader said of its machine besides the name of the file. */
export type SaidByLoader = Partial<Pick<BootClient, 'macs' | 'uuid' | 'arch' | 'firmware'>>

export interface ScriptQuestion {
  readonly loader: NamingLoader
  readonly name: ScriptName
  /** Absent: it said nothing, as by TFTP it cannot. */
  readonly said?: SaidByLoader
  /** IP address that asks. */
  readonly address?: string
  /** For URLs in the answer. */
  readonly baseUrl: string
  /** How it was asked, and so how a PXELINUX fetches files. */
  readonly fetch: 'http' | 'tftp'
  /** Mints no boot and leaves no trace; for HEAD. */
  readonly isProbe?: boolean
  /** The trace that the question belongs to. */
  readonly trace?: TraceId
}

export type ScriptAnswer =
  /** `isEntry`: the first configuration, which finds out who asks and decides nothing. */
  | { readonly kind: 'script'; readonly text: string; readonly isEntry?: boolean }
  /** The loader goes on to the next name of its list, or leaves network boot where an admin chose this answer for it. */
  | { readonly kind: 'not-here'; readonly reason: string }
  /** It could not be made; the text says so in the dialect and asks again. */
  | { readonly kind: 'failed'; readonly text: string }

export interface ScriptNameSources {
  readonly bootService: Pick<BootService, 'answer' | 'explain'>
  readonly renderer: Pick<Renderer, 'grub' | 'grubEntry' | 'pxelinux'>
  readonly secrets: Pick<SecretService, 'scriptToken'>
  readonly seen: SeenMachines
  /** What a machine gets that is to be ignored: a script that leaves network boot, or nothing. */
  readonly ignoredMachines: 'script' | 'http-404'
  readonly log: Log
}

/**
 * The configuration behind a name that GRUB, PXELINUX, U-Boot or petitboot asks for, by whatever protocol.
 *
 * Loaders walk from the most to the least specific name, so one that no host of ours has is not here; only the MAC is
 * enough to decide for a stranger, and the last name of the list answers everybody. A GRUB that told no architecture
 * gets the first configuration, which asks again and tells it.
 */
export function answerScriptName(question: ScriptQuestion, sources: ScriptNameSources): ScriptAnswer {
  const { loader } = question
  try {
    return loader === 'grub' ? answerGrub(question, sources) : answerPxelinux(question, sources)
  } catch (error) {
    if (!isServiceError(error)) throw error
    sources.log.error({ code: error.code, err: error, loader }, 'boot script could not be made')
    return { kind: 'failed', text: failureScript(question, error.code) }
  }
}

function answerGrub(question: ScriptQuestion, sources: ScriptNameSources): ScriptAnswer {
  const { name, said, baseUrl } = question
  const entry = (): ScriptAnswer => ({
    kind: 'script',
    text: sources.renderer.grubEntry({ baseUrl }),
    isEntry: true,
  })
  if (name.by === 'default' && said === undefined) return entry()
  const client = clientOf(question, sources, undefined)
  if (client === undefined) return notHere
  const { host } = sources.bootService.explain(client)
  if (name.by === 'uuid' && host === undefined) return notHere
  const knowsArch = client.arch !== undefined || host?.arch !== undefined
  return knowsArch || said !== undefined ? decide(question, client, sources) : entry()
}

function answerPxelinux(question: ScriptQuestion, sources: ScriptNameSources): ScriptAnswer {
  const { name } = question
  const client = clientOf(question, sources, { arch: 'x86_64', firmware: 'bios' })
  if (client === undefined) return notHere
  if (name.by === 'uuid' && sources.bootService.explain(client).host === undefined) return notHere
  return decide(question, client, sources)
}

const notHere: ScriptAnswer = { kind: 'not-here', reason: 'No machine is known by this name.' }

/** Who is meant; `undefined` where the name means nobody that we know of. */
function clientOf(
  { name, said, address, loader }: ScriptQuestion,
  { seen }: ScriptNameSources,
  usual: SaidByLoader | undefined,
): BootClient | undefined {
  const marks = marksOf(name, address, seen)
  if (marks === undefined) return undefined
  const macs = [...new Set([...(marks.macs ?? []), ...(said?.macs ?? [])])]
  const [mac] = macs
  const known = mac === undefined ? undefined : seen.machineOf(mac)
  const variant = name.by === 'default' ? archOfVariant(name.variant) : undefined
  const board = variant === undefined ? undefined : ({ arch: variant, firmware: 'unknown' } as const)
  const uuid = marks.uuid ?? said?.uuid
  const arch = said?.arch ?? known?.arch ?? board?.arch ?? usual?.arch
  return {
    macs,
    ...(uuid === undefined ? {} : { uuid }),
    ...(arch === undefined ? {} : { arch }),
    firmware: said?.firmware ?? known?.firmware ?? board?.firmware ?? usual?.firmware ?? 'unknown',
    loader,
    ...(address === undefined ? {} : { address }),
  }
}

function marksOf(
  name: ScriptName,
  address: string | undefined,
  seen: SeenMachines,
): SaidByLoader | undefined {
  switch (name.by) {
    case 'mac':
      return { macs: [name.mac] }
    case 'uuid':
      return { macs: [], uuid: name.uuid }
    case 'address': {
      const mac = name.address === undefined ? undefined : seen.macOf(name.address)
      return mac === undefined ? undefined : { macs: [mac] }
    }
    case 'default': {
      const mac = address === undefined ? undefined : seen.macOf(address)
      return { macs: mac === undefined ? [] : [mac] }
    }
    case 'other':
      return undefined
  }
}

function decide(question: ScriptQuestion, client: BootClient, sources: ScriptNameSources): ScriptAnswer {
  const { bootService, renderer, ignoredMachines } = sources
  const { loader, baseUrl, fetch, isProbe, trace } = question
  const { decision, bootId } = isProbe
    ? { decision: bootService.explain(client), bootId: placeholderBootId }
    : bootService.answer(client, trace)
  // A GRUB that asks in a loop would ask on and on: it is told how to leave.
  const mayBeAbsent = loader !== 'grub' || question.said === undefined
  if (mayBeAbsent && decision.kind === 'ignore' && ignoredMachines === 'http-404') {
    return { kind: 'not-here', reason: 'This machine is ignored.' }
  }
  if (mayBeAbsent && decision.kind === 'local' && decision.method === 'http-404') {
    return { kind: 'not-here', reason: 'This machine boots from its own disk; this answer sends it there.' }
  }
  const token = (purpose: ScriptToken) => sources.secrets.scriptToken(purpose, { decision, client, bootId })
  const context = isProbe ? { baseUrl, bootId } : { baseUrl, bootId, token }
  const text =
    loader === 'grub'
      ? renderer.grub(decision, client, context)
      : renderer.pxelinux(decision, client, { ...context, fetch })
  return { kind: 'script', text }
}
