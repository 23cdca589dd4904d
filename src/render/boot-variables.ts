import type { Artifact } from '../core/artifact.ts'
import type { BootDecision, BootParameters } from '../core/boot-decision.ts'
import type { Bootimage } from '../core/bootimage.ts'
import type { Catalog } from '../core/catalog.ts'
import type { BootClient } from '../core/client.ts'
import { ServiceError } from '../core/errors.ts'
import {
  installKernelArguments,
  type KernelArguments,
  legacyInstallerKernelArguments,
  liveKernelArguments,
} from '../core/kernel-args.ts'
import { ipxeArgumentProblem } from '../core/kernel-argument-rules.ts'
import { legacyDiskImage } from '../core/legacy-disk-image.ts'
import { urlFileName } from './script-text.ts'
import type { InitrdVariable, TemplateVariables } from './template-variables.ts'

/** What a script is made from besides its decision. Of the client only its kind of firmware counts. */
export interface ScriptSurroundings {
  readonly baseUrl: string
  readonly bootId: string
  readonly client: Pick<BootClient, 'firmware'>
  readonly catalog: Pick<Catalog, 'ready'>
}

type Booting = Extract<BootDecision, { readonly kind: 'live' | 'install' }>
type BootVariables = Pick<
  TemplateVariables,
  'kernel_url' | 'initrds' | 'boot_arguments' | 'boot_interface' | 'operator_arguments'
>

/**
 * Files and kernel arguments of a live system, which installs when `device` is given.
 * @throws ServiceError KERNEL_ARGUMENT_INVALID
 */
export function liveBootVariables(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  device?: string,
): BootVariables {
  const rootfsUrl = bootimage.rootfs && artifactUrl(bootimage.rootfs, surroundings)
  const isUrl = parameters.rootfs === 'url'
  const second = rootfsUrl === undefined || isUrl ? [] : [{ name: 'rootfs', url: rootfsUrl }]
  const initrds = initrdsOf(bootimage, second, parameters, surroundings)
  const common = { parameters, initrds: names(initrds), rootfsUrl: isUrl ? rootfsUrl : undefined }
  const words =
    device === undefined ? liveKernelArguments(common) : installKernelArguments({ ...common, device })
  return bootVariables(bootimage, initrds, words, surroundings)
}

/**
 * Files and kernel arguments of the legacy installer.
 * @throws ServiceError KERNEL_ARGUMENT_INVALID, TEMPLATE_RENDER_FAILED when there is no image for the firmware
 */
export function legacyBootVariables(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  device: string,
): BootVariables & Pick<TemplateVariables, 'image_url'> {
  const { firmware } = surroundings.client
  const image = legacyDiskImage(bootimage, firmware)
  if (image === undefined) {
    const message = `${bootimage.id} has no disk image for ${firmware} firmware`
    throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { bootimage: bootimage.id, firmware })
  }
  const imageUrl = artifactUrl(image, surroundings)
  const initrds = initrdsOf(bootimage, [], parameters, surroundings)
  const words = legacyInstallerKernelArguments({ parameters, initrds: names(initrds), device, imageUrl })
  return { ...bootVariables(bootimage, initrds, words, surroundings), image_url: imageUrl }
}

/** iPXE starts no gzip kernel on aarch64 (field case 108): the decompressed one, where there is one. */
export function kernelOf(
  bootimage: Bootimage,
  { catalog }: Pick<ScriptSurroundings, 'catalog'>,
): Pick<Artifact, 'name' | 'sha256'> {
  return catalog.ready.get(bootimage.id)?.kernelUncompressed ?? bootimage.kernel
}

function bootVariables(
  bootimage: Bootimage,
  initrds: readonly InitrdVariable[],
  words: KernelArguments,
  surroundings: ScriptSurroundings,
): BootVariables {
  return {
    kernel_url: artifactUrl(kernelOf(bootimage, surroundings), surroundings),
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

function names(initrds: readonly InitrdVariable[]): readonly string[] {
  return initrds.map(({ name }) => name)
}

function artifactUrl(
  { sha256, name }: Pick<Artifact, 'name' | 'sha256'>,
  { baseUrl, bootId }: ScriptSurroundings,
): string {
  return `${baseUrl}/artifacts/${sha256}/${urlFileName(name)}?boot=${bootId}`
}
