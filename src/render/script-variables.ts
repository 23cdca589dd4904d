import type { BootDecision } from '../core/boot-decision.ts'
import type { Firmware } from '../core/client.ts'
import { defaultLocalBoot } from '../core/effective-settings.ts'
import type { LocalBootMethod } from '../core/host.ts'
import { legacyBootVariables, liveBootVariables, type ScriptSurroundings } from './boot-variables.ts'
import type { DecidedVariables } from './decided-variables.ts'
import { scriptText, urlFileName } from './script-text.ts'
import type { LeaveMethod, TemplateName, VariablesOf } from './template-variables.ts'

type DecisionTemplate = Exclude<TemplateName, 'entry'>

/** A template and exactly the variables that it is given. */
type Script = {
  readonly [Name in DecisionTemplate]: { readonly template: Name; readonly variables: VariablesOf<Name> }
}[DecisionTemplate]

/** The template that a decision is written with. */
export function templateOf(decision: BootDecision): DecisionTemplate {
  const isLegacy = decision.kind === 'install' && decision.bootimage.kind === 'legacy-installer'
  return isLegacy ? 'legacy-installer' : decision.kind
}

/**
 * That template with its variables. Nothing of the client but its kind of firmware has a part in them (field case 117).
 * @throws ServiceError KERNEL_ARGUMENT_INVALID, TEMPLATE_RENDER_FAILED when the decision lacks what its kind needs
 */
export function scriptOf(
  decision: BootDecision,
  told: DecidedVariables,
  surroundings: ScriptSurroundings,
): Script {
  const { baseUrl, bootId, client } = surroundings
  const decided = { ...told, base_url: baseUrl, boot_id: bootId }
  switch (decision.kind) {
    case 'live':
      return { template: 'live', variables: { ...decided, ...liveBootVariables(decision, surroundings) } }
    case 'install': {
      const { device, generation, bootimage } = decision
      const variables = { ...decided, device: scriptText(device), generation }
      if (bootimage.kind === 'legacy-installer') {
        const boot = legacyBootVariables(decision, surroundings, device)
        return { template: 'legacy-installer', variables: { ...variables, ...boot } }
      }
      const boot = liveBootVariables(decision, surroundings, device)
      return { template: 'install', variables: { ...variables, ...boot } }
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

/** `http-404` and `dhcp-silent` are answers without a script; whoever asks for one all the same gets the default. */
function leaveMethod(method: LocalBootMethod, firmware: Firmware): LeaveMethod {
  if (method === 'http-404' || method === 'dhcp-silent') {
    return leaveMethod(defaultLocalBoot(firmware), firmware)
  }
  return method
}
