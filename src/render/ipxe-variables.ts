import { argumentText } from './argument-text.ts'
import { artifactUrl, type BootPlan, type ScriptSurroundings } from './boot-plan.ts'
import type { ScriptParts } from './script-parts.ts'
import type { ScriptVariables } from './template-variables.ts'
import type { ToldVariables } from './told-variables.ts'

/** @throws ServiceError KERNEL_ARGUMENT_INVALID */
export function ipxeVariables(
  parts: ScriptParts,
  told: ToldVariables,
  surroundings: ScriptSurroundings,
): ScriptVariables<'ipxe'> {
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
    case 'chainload':
      return { ...told, loader_url: `${surroundings.baseUrl}/loaders/${parts.loader}` }
  }
}

function boot({ kernel, initrds, words }: BootPlan, surroundings: ScriptSurroundings) {
  return {
    kernel_url: artifactUrl(kernel, surroundings),
    initrds: initrds.map(({ name, file }) => ({ name, url: artifactUrl(file, surroundings) })),
    boot_arguments: argumentText(words.own, 'ipxe'),
    boot_interface: words.bootInterface,
    operator_arguments: argumentText(words.operator, 'ipxe'),
  }
}
