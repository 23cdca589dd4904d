import type { BootParameters } from './boot-decision.ts'
import { argumentKey } from './kernel-argument-rules.ts'

/** A kernel command line in the order in which it is written. */
export interface KernelArguments {
  /** What the boot needs. */
  readonly own: readonly string[]
  /** Whether `BOOTIF=01-<MAC of the booting NIC>` follows: only the loader knows that MAC (field case 113). */
  readonly bootInterface: boolean
  /** The operator's, in their order, at the end: the last `console=` is the primary console (facts §14). */
  readonly operator: readonly string[]
}

export interface LiveArguments {
  readonly parameters: BootParameters
  /** Names of the initrds as the loader knows them, where the kernel has to be told (field case 110). */
  readonly initrds: readonly string[]
  /** Absent: the rootfs is an initrd or part of the initramfs. */
  readonly rootfsUrl?: string
  /** Where the config of the system that boots, or that is installed, is fetched; ours or an admin's. */
  readonly ignitionUrl?: string
}

/**
 * FCOS and RHCOS live from RAM (facts/stream-metadata §12.1; field case 129).
 *
 * `ignition.firstboot ignition.platform.id` only where the live system itself runs Ignition: with a URL, or with an
 * extra initrd, which may hold a config. `rd.neednet=1` always: BOOTIF is a network argument, and without it one
 * release did not bring the network up (§14, §17). No `ip=dhcp`: that is the default, and an install would carry the
 * word into the installed system.
 */
export function liveKernelArguments({
  parameters,
  initrds,
  rootfsUrl,
  ignitionUrl: url,
}: LiveArguments): KernelArguments {
  const { extraInitrds, kernelArguments, platformId } = parameters
  const operatorUrl = kernelArguments.some((argument) => argumentKey(argument) === 'ignition.config.url')
  const runsIgnition = url !== undefined || operatorUrl || extraInitrds.length > 0
  const own = [...bootFiles(initrds, rootfsUrl), 'rd.neednet=1']
  if (runsIgnition) own.push('ignition.firstboot', `ignition.platform.id=${platformId}`)
  if (url !== undefined) own.push(`ignition.config.url=${url}`)
  return withOperator(own, kernelArguments, true)
}

/**
 * Install to disk with a live system of 4.6 or later (facts/stream-metadata §12.2, §13). `installerUrl` is the config
 * of the live system that installs; the two can be used together (§12.2).
 */
export function installKernelArguments({
  parameters,
  initrds,
  rootfsUrl,
  device,
  ignitionUrl,
  installerUrl,
}: LiveArguments & { readonly device: string; readonly installerUrl?: string }): KernelArguments {
  const { extraInitrds, kernelArguments, platformId } = parameters
  const own = [...bootFiles(initrds, rootfsUrl), 'rd.neednet=1']
  if (extraInitrds.length > 0 || installerUrl !== undefined) {
    own.push('ignition.firstboot', `ignition.platform.id=${platformId}`)
  }
  if (installerUrl !== undefined) own.push(`ignition.config.url=${installerUrl}`)
  own.push(`coreos.inst.install_dev=${deviceWithFolder(device)}`)
  if (ignitionUrl !== undefined) own.push(`coreos.inst.ignition_url=${ignitionUrl}`)
  if (platformId !== 'metal') own.push(`coreos.inst.platform_id=${platformId}`)
  return withOperator(own, kernelArguments, true)
}

/**
 * RHCOS 4.1–4.5 (facts/stream-metadata §12.7): `coreos.inst=yes` and an Ignition URL are mandatory (`skip` means
 * none), the device is without `/dev/`, and the network comes up only with both network words. Its published lines
 * have no BOOTIF.
 */
export function legacyInstallerKernelArguments({
  parameters,
  initrds,
  device,
  imageUrl,
  ignitionUrl,
}: Omit<LiveArguments, 'rootfsUrl'> & {
  readonly device: string
  readonly imageUrl: string
}): KernelArguments {
  const own = [
    ...bootFiles(initrds, undefined),
    'ip=dhcp',
    'rd.neednet=1',
    'coreos.inst=yes',
    `coreos.inst.install_dev=${deviceWithFolder(device).slice('/dev/'.length)}`,
    `coreos.inst.image_url=${imageUrl}`,
    `coreos.inst.ignition_url=${ignitionUrl ?? 'skip'}`,
  ]
  return withOperator(own, parameters.kernelArguments, false)
}

function bootFiles(initrds: readonly string[], rootfsUrl: string | undefined): readonly string[] {
  const words = initrds.map((name) => `initrd=${name}`)
  return rootfsUrl === undefined ? words : [...words, `coreos.live.rootfs_url=${rootfsUrl}`]
}

/** 4.6 and later want the full path and only tolerate the bare name. */
function deviceWithFolder(device: string): string {
  return device.startsWith('/dev/') ? device : `/dev/${device.replace(/^\/+/, '')}`
}

/** With one of these the operator has described the network, and a connection bound to the boot NIC would fight it. */
const interfaceKeys: ReadonlySet<string> = new Set([
  'BOOTIF',
  'rd.bootif',
  'bootdev',
  'bond',
  'bridge',
  'team',
  'vlan',
])

function namesInterface(argument: string): boolean {
  const key = argumentKey(argument)
  // `ip=eno1:dhcp` and `ip=…:eno1:none` name a NIC; `ip=dhcp` and `ip=dhcp6` do not.
  return interfaceKeys.has(key) || (key === 'ip' && argument.includes(':'))
}

/**
 * An operator's value replaces ours for the same key, and stands where the operator put it: they know their network
 * and platform better. (Keys that name the files of the boot cannot be given at all; see the rules.) A word given
 * twice stays once, at its last place, because for the kernel the last one counts.
 */
function withOperator(
  own: readonly string[],
  operator: readonly string[],
  wantsBootInterface: boolean,
): KernelArguments {
  if (operator.length === 0) return { own, bootInterface: wantsBootInterface, operator }
  const keys = new Set(operator.map(argumentKey))
  return {
    own: own.filter((argument) => !keys.has(argumentKey(argument))),
    bootInterface: wantsBootInterface && !operator.some(namesInterface),
    operator: operator.filter((argument, index) => operator.lastIndexOf(argument) === index),
  }
}
