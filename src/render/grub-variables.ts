import { macWithHyphens } from '../core/mac.ts'
import { argumentText } from './argument-text.ts'
import { artifactPath, type BootPlan, type ScriptSurroundings } from './boot-plan.ts'
import { grubService } from './grub-service.ts'
import { grubWord } from './grub-word.ts'
import type { ScriptParts } from './script-parts.ts'
import type { ScriptVariables } from './template-variables.ts'
import type { ToldVariables } from './told-variables.ts'

/** @throws ServiceError KERNEL_ARGUMENT_INVALID, CONFIG_INVALID for an https address (field case 100) */
export function grubVariables(
  parts: ScriptParts,
  decided: ToldVariables,
  surroundings: ScriptSurroundings,
): ScriptVariables<'grub'> {
  const whose = decided.host === '' ? 'an unknown machine' : `host ${decided.host}`
  const { device: service } = grubService(surroundings.baseUrl, whose)
  const told = { ...decided, service }
  switch (parts.template) {
    case 'live':
      return { ...told, ...boot(parts.plan, service, surroundings) }
    case 'install':
      return { ...told, ...boot(parts.plan, service, surroundings), ...parts.install }
    case 'legacy-installer': {
      const { plan, install, imageUrl } = parts
      return { ...told, ...boot(plan, service, surroundings), ...install, image_url: imageUrl }
    }
    case 'wait':
      return { ...told, wanted: parts.wanted }
    case 'hold':
    case 'local':
    case 'ignore':
      return { ...told, leave: parts.leave }
    case 'chainload':
      return { ...told, loader_file: grubWord(`${service}/loaders/${parts.loader}`) }
  }
}

function boot({ kernel, initrds, words }: BootPlan, service: string, { bootId, mac }: ScriptSurroundings) {
  return {
    kernel_file: grubWord(`${service}${artifactPath(kernel, bootId)}`),
    initrd_files: initrds.map(({ file }) => grubWord(`${service}${artifactPath(file, bootId)}`)),
    boot_arguments: argumentText(words.own, 'grub'),
    boot_interface: words.bootInterface,
    boot_mac: mac === undefined ? '' : macWithHyphens(mac),
    operator_arguments: argumentText(words.operator, 'grub'),
  }
}
