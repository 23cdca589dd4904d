import type { Catalog } from '../catalog/catalog.ts'
import type { Artifact } from '../core/artifact.ts'
import type { BootDecision, BootParameters } from '../core/boot-decision.ts'
import type { Bootimage } from '../core/bootimage.ts'
import type { BootClient, Firmware } from '../core/client.ts'
import type { Sha256 } from '../core/digest.ts'
import { defaultLocalBoot } from '../core/effective-settings.ts'
import { ServiceError } from '../core/errors.ts'
import type { LocalBootMethod } from '../core/host.ts'
import {
  installKernelArguments,
  type KernelArguments,
  legacyInstallerKernelArguments,
  liveKernelArguments,
} from '../core/kernel-args.ts'
import { ipxeArgumentProblem } from '../core/kernel-argument-rules.ts'
import { legacyDiskImage } from '../core/legacy-disk-image.ts'
import { reasonText } from '../core/reason.ts'
import { scriptText, urlFileName } from './script-text.ts'
import type { InitrdVariable, LeaveMethod, TemplateName, VariablesOf } from './template-variables.ts'

/** A template with what it needs. */
export type Script = { readonly [Name in Exclude<TemplateName, 'entry'>]: ScriptOf<Name> }[Exclude<
  TemplateName,
  'entry'
>]

interface ScriptOf<Name extends TemplateName> {
  readonly template: Name
  readonly variables: VariablesOf<Name>
}

export interface ScriptSurroundings {
  readonly baseUrl: string
  readonly bootId: string
  readonly client: BootClient
  readonly catalog: Catalog
}

/**
 * Which template a decision is written with, and its variables. Nothing of the client but its kind of firmware has a
 * part in it (field case 117).
 * @throws ServiceError KERNEL_ARGUMENT_INVALID, TEMPLATE_RENDER_FAILED when the decision lacks what its kind needs
 */
export function scriptOf(decision: BootDecision, surroundings: ScriptSurroundings): Script {
  const { baseUrl, client } = surroundings
  const decided = decidedVariables(decision, surroundings)
  switch (decision.kind) {
    case 'live':
      return { template: 'live', variables: { ...decided, ...liveVariables(decision, surroundings) } }
    case 'install': {
      const { device, generation, bootimage } = decision
      const variables = { ...decided, device: scriptText(device), generation }
      if (bootimage.kind === 'live') {
        const boot = liveVariables(decision, surroundings, device)
        return { template: 'install', variables: { ...variables, ...boot } }
      }
      const boot = legacyVariables(decision, surroundings, device)
      return { template: 'legacy-installer', variables: { ...variables, ...boot } }
    }
    case 'wait': {
      const { stream, release, arch } = decision.wanted
      const wanted = `${stream}${release === undefined ? '' : ` ${release}`} for ${arch}`
      return { template: 'wait', variables: { ...decided, wanted: scriptText(wanted) } }
    }
    case 'hold':
    case 'local': {
      const leave = leaveMethod(decision.method, client.firmware)
      return { template: decision.kind, variables: { ...decided, leave } }
    }
    case 'ignore': {
      const leave = leaveMethod(defaultLocalBoot(client.firmware), client.firmware)
      return { template: 'ignore', variables: { ...decided, leave } }
    }
    case 'chainload': {
      const loader_url = `${baseUrl}/loaders/${urlFileName(decision.loader)}`
      return { template: 'chainload', variables: { ...decided, loader_url } }
    }
  }
}

type Booting = Extract<BootDecision, { readonly kind: 'live' | 'install' }>

function decidedVariables(decision: BootDecision, { baseUrl, bootId }: ScriptSurroundings) {
  const reasons = decision.reasons.map((entry) => scriptText(reasonText(entry)))
  const subject = subjectOf(decision)
  return {
    base_url: baseUrl,
    boot_id: bootId,
    decision: decision.kind,
    reason: reasons[0] ?? '',
    reasons,
    host: scriptText(decision.host?.id ?? ''),
    stream: scriptText(subject.stream ?? ''),
    release: scriptText(subject.release ?? ''),
    arch: decision.arch ?? '',
  }
}

function subjectOf(decision: BootDecision): { readonly stream?: string; readonly release?: string } {
  if (decision.kind === 'live' || decision.kind === 'install') return decision.bootimage
  return decision.kind === 'wait' ? decision.wanted : {}
}

function liveVariables(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  device?: string,
) {
  const { rootfs } = bootimage
  const rootfsUrl = rootfs && artifactUrl(rootfs, surroundings)
  const isUrl = parameters.rootfs === 'url'
  const second = rootfsUrl === undefined || isUrl ? [] : [{ name: 'rootfs', url: rootfsUrl }]
  const initrds = initrdsOf(bootimage, second, parameters, surroundings)
  const common = {
    parameters,
    initrds: initrds.map(({ name }) => name),
    rootfsUrl: isUrl ? rootfsUrl : undefined,
  }
  const words =
    device === undefined ? liveKernelArguments(common) : installKernelArguments({ ...common, device })
  return bootVariables(bootimage, initrds, words, surroundings)
}

function legacyVariables(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  device: string,
) {
  const { firmware } = surroundings.client
  const image = legacyDiskImage(bootimage, firmware)
  if (image === undefined) {
    const message = `${bootimage.id} has no disk image for ${firmware} firmware`
    throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { bootimage: bootimage.id, firmware })
  }
  const imageUrl = artifactUrl(image, surroundings)
  const initrds = initrdsOf(bootimage, [], parameters, surroundings)
  const names = initrds.map(({ name }) => name)
  const words = legacyInstallerKernelArguments({ parameters, initrds: names, device, imageUrl })
  return { ...bootVariables(bootimage, initrds, words, surroundings), image_url: imageUrl }
}

function bootVariables(
  bootimage: Bootimage,
  initrds: readonly InitrdVariable[],
  words: KernelArguments,
  surroundings: ScriptSurroundings,
) {
  return {
    kernel_url: kernelUrl(bootimage, surroundings),
    initrds,
    boot_arguments: argumentText(words.own),
    boot_interface: words.bootInterface,
    operator_arguments: argumentText(words.operator),
  }
}

function argumentText(words: readonly string[]): string {
  for (const argument of words) {
    const problem = ipxeArgumentProblem(argument)
    if (problem === undefined) continue
    const message = `kernel argument ${JSON.stringify(argument)} cannot be written for iPXE: ${problem}`
    throw new ServiceError('KERNEL_ARGUMENT_INVALID', message, { argument, dialect: 'ipxe' })
  }
  return words.join(' ')
}

function initrdsOf(
  { initramfs }: Bootimage,
  second: readonly InitrdVariable[],
  { extraInitrds }: BootParameters,
  surroundings: ScriptSurroundings,
): readonly InitrdVariable[] {
  const extras = extraInitrds.map(({ path, sha256 }, index) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    return { name: `extra${index}`, url: artifactUrl({ sha256, name }, surroundings) }
  })
  return [{ name: 'main', url: artifactUrl(initramfs, surroundings) }, ...second, ...extras]
}

/** iPXE starts no gzip kernel on aarch64 (field case 108): the decompressed one, where there is one. */
function kernelUrl(bootimage: Bootimage, surroundings: ScriptSurroundings): string {
  const ready = surroundings.catalog.ready.get(bootimage.id)
  return artifactUrl(ready?.kernelUncompressed ?? bootimage.kernel, surroundings)
}

function artifactUrl(
  { sha256, name }: Pick<Artifact, 'name'> & { readonly sha256: Sha256 },
  { baseUrl, bootId }: ScriptSurroundings,
): string {
  return `${baseUrl}/artifacts/${sha256}/${urlFileName(name)}?boot=${bootId}`
}

/** `http-404` and `dhcp-silent` are answers without a script; whoever asks for one all the same gets the default. */
function leaveMethod(method: LocalBootMethod, firmware: Firmware): LeaveMethod {
  if (method === 'http-404' || method === 'dhcp-silent') {
    return leaveMethod(defaultLocalBoot(firmware), firmware)
  }
  return method
}
