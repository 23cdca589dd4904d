import { ServiceError } from '../core/errors.ts'
import { macWithHyphens } from '../core/mac.ts'
import { argumentText } from './argument-text.ts'
import type { BootPlan, ScriptSurroundings } from './boot-plan.ts'
import type { ScriptParts } from './script-parts.ts'
import type { ScriptVariables } from './template-variables.ts'
import type { ToldVariables } from './told-variables.ts'

/**
 * For PXELINUX, and for what reads its files: U-Boot and petitboot.
 * @throws ServiceError KERNEL_ARGUMENT_INVALID, TEMPLATE_RENDER_FAILED for what a loader of this kind cannot do
 */
export function pxelinuxVariables(
  parts: ScriptParts,
  decided: ToldVariables,
  surroundings: ScriptSurroundings,
): ScriptVariables<'pxelinux'> {
  const { client, configName } = surroundings
  const { firmware } = client
  const told = { ...decided, firmware, config_file: fileName(configName, surroundings) }
  switch (parts.template) {
    case 'live':
      return { ...told, ...boot(parts.plan, surroundings) }
    case 'install':
      return { ...told, ...boot(parts.plan, surroundings), ...parts.install }
    case 'legacy-installer': {
      const { plan, install, imageUrl } = parts
      return { ...told, ...boot(plan, surroundings), ...install, image_url: imageUrl }
    }
    case 'wait':
      return { ...told, wanted: parts.wanted }
    case 'hold':
    case 'local':
    case 'ignore':
      return { ...told, leave: parts.leave }
    case 'chainload': {
      // TFTP serves loaders at its root.
      const path = surroundings.fetch === 'tftp' ? parts.loader : `loaders/${parts.loader}`
      return { ...told, loader_file: fileName(path, surroundings) }
    }
  }
}

/** A URL, or a path from the root, which PXELINUX, U-Boot and petitboot all leave as it is. */
function fileName(path: string, { baseUrl, fetch }: ScriptSurroundings): string {
  return fetch === 'tftp' ? `/${path}` : `${baseUrl}/${path}`
}

/** PXELINUX cuts names at 256 bytes, so files get short ones; the digest says which they are. */
function artifact(sha256: string, name: string, surroundings: ScriptSurroundings): string {
  const { fetch, bootId } = surroundings
  return fileName(`artifacts/${sha256}/${name}${fetch === 'tftp' ? '' : `?boot=${bootId}`}`, surroundings)
}

/** The longest command line that PXELINUX and an x86 kernel take. */
const longestArguments = 2000

function boot({ kernel, initrds, words }: BootPlan, surroundings: ScriptSurroundings) {
  const { client, mac } = surroundings
  if (initrds.length > 1 && client.firmware !== 'bios') {
    throw new ServiceError(
      'TEMPLATE_RENDER_FAILED',
      `petitboot and U-Boot load one initrd, and this boot has ${initrds.length}`,
      { hint: 'set rootfs: url and no extraInitrds, or boot this machine with iPXE or GRUB' },
    )
  }
  const own = argumentText(words.own, 'pxelinux')
  const operator = argumentText(words.operator, 'pxelinux')
  if (own.length + operator.length > longestArguments) {
    const message = `the kernel arguments have more than ${longestArguments} characters, which PXELINUX would cut`
    throw new ServiceError('KERNEL_ARGUMENT_INVALID', message, { dialect: 'pxelinux' })
  }
  return {
    kernel_file: artifact(kernel.sha256, 'kernel', surroundings),
    initrd_files: initrds.map(({ name, file }) => artifact(file.sha256, name, surroundings)),
    boot_arguments: own,
    boot_interface: words.bootInterface,
    boot_mac: mac === undefined ? '' : macWithHyphens(mac),
    operator_arguments: operator,
  }
}
