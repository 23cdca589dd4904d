import type { BootDecision } from '../core/boot-decision.ts'
import { reasonText } from '../core/reason.ts'
import { scriptText } from './script-text.ts'
import type { TemplateVariables } from './template-variables.ts'

/** What every script says of its decision, whatever template it is made from. */
export type DecidedVariables = Pick<
  TemplateVariables,
  'decision' | 'reason' | 'reasons' | 'host' | 'stream' | 'release' | 'arch'
>

export function decidedVariables(decision: BootDecision): DecidedVariables {
  const reasons = decision.reasons.map((entry) => scriptText(reasonText(entry)))
  const { stream = '', release = '' } = subjectOf(decision)
  return {
    decision: decision.kind,
    reason: reasons[0] ?? '',
    reasons,
    host: scriptText(decision.host?.id ?? ''),
    stream: scriptText(stream),
    release: scriptText(release),
    arch: decision.arch ?? '',
  }
}

function subjectOf(decision: BootDecision): { readonly stream?: string; readonly release?: string } {
  if (decision.kind === 'live' || decision.kind === 'install') return decision.bootimage
  return decision.kind === 'wait' ? decision.wanted : {}
}
