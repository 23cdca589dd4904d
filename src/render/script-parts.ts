import type { BootDecision } from '../core/boot-decision.ts'
import type { Firmware } from '../core/client.ts'
import { defaultLocalBoot } from '../core/effective-settings.ts'
import type { LocalBootMethod } from '../core/host.ts'
import { type BootPlan, planLegacyBoot, planLiveBoot, type ScriptSurroundings } from './boot-plan.ts'
import type { Dialect } from './dialect.ts'
import { scriptText, urlFileName } from './script-text.ts'
import type { DecisionTemplate, LeaveMethod } from './template-variables.ts'

interface Install {
  readonly device: string
  readonly generation: number
}

/** A decision as the parts of a script, before a dialect writes them down. */
export type ScriptParts =
  | { readonly template: 'live'; readonly plan: BootPlan }
  | { readonly template: 'install'; readonly plan: BootPlan; readonly install: Install }
  | {
      readonly template: 'legacy-installer'
      readonly plan: BootPlan
      readonly install: Install
      readonly imageUrl: string
    }
  | { readonly template: 'wait'; readonly wanted: string }
  | { readonly template: 'hold' | 'local' | 'ignore'; readonly leave: LeaveMethod }
  | { readonly template: 'chainload'; readonly loader: string }

/** The template that a decision is written with. */
export function templateOf(decision: BootDecision): DecisionTemplate {
  const isLegacy = decision.kind === 'install' && decision.bootimage.kind === 'legacy-installer'
  return isLegacy ? 'legacy-installer' : decision.kind
}

/** @throws ServiceError TEMPLATE_RENDER_FAILED when the decision lacks what its kind needs */
export function scriptPartsOf(
  decision: BootDecision,
  surroundings: ScriptSurroundings,
  dialect: Dialect,
): ScriptParts {
  const { firmware } = surroundings.client
  switch (decision.kind) {
    case 'live':
      return { template: 'live', plan: planLiveBoot(decision, surroundings, dialect) }
    case 'install': {
      const { device, generation, bootimage } = decision
      const install = { device: scriptText(device), generation }
      if (bootimage.kind === 'legacy-installer') {
        const { imageUrl, ...plan } = planLegacyBoot(decision, surroundings, dialect, device)
        return { template: 'legacy-installer', plan, install, imageUrl }
      }
      const plan = planLiveBoot(decision, surroundings, dialect, device)
      return { template: 'install', plan, install }
    }
    case 'wait': {
      const { stream, release, arch } = decision.wanted
      const wanted = `${stream}${release === undefined ? '' : ` ${release}`} for ${arch}`
      return { template: 'wait', wanted: scriptText(wanted) }
    }
    case 'hold':
    case 'local':
      return { template: decision.kind, leave: leaveMethod(decision.method, firmware) }
    case 'ignore':
      return { template: 'ignore', leave: leaveMethod(defaultLocalBoot(firmware), firmware) }
    case 'chainload':
      return { template: 'chainload', loader: urlFileName(decision.loader) }
  }
}

/** `http-404` and `dhcp-silent` are answers without a script; whoever asks for one all the same gets the default. */
function leaveMethod(method: LocalBootMethod, firmware: Firmware): LeaveMethod {
  if (method === 'http-404' || method === 'dhcp-silent') {
    return leaveMethod(defaultLocalBoot(firmware), firmware)
  }
  return method
}
