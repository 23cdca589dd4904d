import type { Artifact } from '../core/artifact.ts'
import type { BootDecision, BootParameters } from '../core/boot-decision.ts'
import type { Bootimage } from '../core/bootimage.ts'
import type { Catalog } from '../core/catalog.ts'
import type { BootClient } from '../core/client.ts'
import { ServiceError } from '../core/errors.ts'
import { installerReports, servesIgnition } from '../core/ignition-serving.ts'
import {
  installKernelArguments,
  type KernelArguments,
  legacyInstallerKernelArguments,
  liveKernelArguments,
} from '../core/kernel-args.ts'
import { legacyDiskImage } from '../core/legacy-disk-image.ts'
import type { MacAddress } from '../core/mac.ts'
import { tokenStandIns } from './cut-script.ts'
import type { Dialect } from './dialect.ts'
import type { ScriptToken } from './renderer.ts'
import { urlFileName } from './script-text.ts'

/** What a script is made from besides its decision. Of the client only what is parsed and typed counts. */
export interface ScriptSurroundings {
  readonly baseUrl: string
  readonly bootId: string
  readonly client: Pick<BootClient, 'firmware'>
  /** Of the NIC that boots, where it is known; iPXE puts it in itself. */
  readonly mac?: MacAddress
  readonly catalog: Pick<Catalog, 'ready'>
  /** How a PXELINUX fetches files: as it fetched its configuration. */
  readonly fetch: 'http' | 'tftp'
  /** The configuration of a machine, below the root; PXELINUX reads it again when it waits. */
  readonly configName: string
}

export type Booting = Extract<BootDecision, { readonly kind: 'live' | 'install' }>
type FileName = Pick<Artifact, 'name' | 'sha256'>

/** Files and kernel arguments of a boot, before a dialect writes them down. */
export interface BootPlan {
  readonly kernel: FileName
  readonly initrds: readonly { readonly name: string; readonly file: FileName }[]
  readonly words: KernelArguments
}

/** A live system, which installs when `device` is given. */
export function planLiveBoot(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  dialect: Dialect,
  device?: string,
): BootPlan {
  const isUrl = parameters.rootfs === 'url'
  const { rootfs } = bootimage
  const second = rootfs === undefined || isUrl ? [] : [{ name: 'rootfs', file: rootfs }]
  const initrds = initrdsOf(bootimage, second, parameters)
  const rootfsUrl = rootfs !== undefined && isUrl ? artifactUrl(rootfs, surroundings) : undefined
  const common = {
    parameters,
    initrds: namedInitrds(initrds, dialect),
    rootfsUrl,
    ignitionUrl: ignitionUrlOf(parameters, surroundings),
  }
  // It reports before it restarts the machine: who asks the network first is not installed once more.
  const installerUrl = installerReports(parameters) ? servedIgnition('installer', surroundings) : undefined
  const words =
    device === undefined
      ? liveKernelArguments(common)
      : installKernelArguments({ ...common, device, installerUrl })
  return { kernel: kernelOf(bootimage, surroundings), initrds, words }
}

/**
 * The legacy installer.
 * @throws ServiceError TEMPLATE_RENDER_FAILED when there is no image for the firmware
 */
export function planLegacyBoot(
  { bootimage, parameters }: Booting,
  surroundings: ScriptSurroundings,
  dialect: Dialect,
  device: string,
): BootPlan & { readonly imageUrl: string } {
  const { firmware } = surroundings.client
  const image = legacyDiskImage(bootimage, firmware)
  if (image === undefined) {
    const message = `${bootimage.id} has no disk image for ${firmware} firmware`
    throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { bootimage: bootimage.id, firmware })
  }
  const imageUrl = artifactUrl(image, surroundings)
  const initrds = initrdsOf(bootimage, [], parameters)
  const words = legacyInstallerKernelArguments({
    parameters,
    initrds: namedInitrds(initrds, dialect),
    device,
    imageUrl,
    ignitionUrl: ignitionUrlOf(parameters, surroundings),
  })
  return { kernel: kernelOf(bootimage, surroundings), initrds, words, imageUrl }
}

function ignitionUrlOf(parameters: BootParameters, surroundings: ScriptSurroundings): string | undefined {
  return servesIgnition(parameters) ? servedIgnition('ignition', surroundings) : parameters.ignition?.url
}

function servedIgnition(token: ScriptToken, { baseUrl }: ScriptSurroundings): string {
  return `${baseUrl}/ignition/${tokenStandIns[token]}`
}

/** No loader here starts a gzip kernel on aarch64 (field case 108): the decompressed one, where there is one. */
export function kernelOf(bootimage: Bootimage, { catalog }: Pick<ScriptSurroundings, 'catalog'>): FileName {
  return catalog.ready.get(bootimage.id)?.kernelUncompressed ?? bootimage.kernel
}

/** Only iPXE on UEFI leaves it to the kernel to find its initrds by name (field case 110; facts §12.4). */
function namedInitrds(initrds: BootPlan['initrds'], dialect: Dialect): readonly string[] {
  return dialect === 'ipxe' ? initrds.map(({ name }) => name) : []
}

function initrdsOf(
  { initramfs }: Bootimage,
  second: BootPlan['initrds'],
  { extraInitrds }: BootParameters,
): BootPlan['initrds'] {
  const extras = extraInitrds.map(({ path, sha256 }, index) => ({
    name: `extra${index}`,
    file: { sha256, name: path.slice(path.lastIndexOf('/') + 1) },
  }))
  return [{ name: 'main', file: initramfs }, ...second, ...extras]
}

/** Below the root; the name is for people, the boot id ties the transfer to its boot. */
export function artifactPath({ sha256, name }: FileName, bootId: string): string {
  return `/artifacts/${sha256}/${urlFileName(name)}?boot=${bootId}`
}

export function artifactUrl(file: FileName, { baseUrl, bootId }: ScriptSurroundings): string {
  return `${baseUrl}${artifactPath(file, bootId)}`
}
