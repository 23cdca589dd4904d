import type { BootDecision } from './boot-decision.ts'
import { installerReports, makesReports, servesIgnition } from './ignition-serving.ts'

/** What a machine does after it has its files; the order is the one in which it does so. */
export type BootExpectation = 'ignition' | 'report'

const nothing: readonly BootExpectation[] = []
const ignition: readonly BootExpectation[] = ['ignition']
const ignitionAndReport: readonly BootExpectation[] = ['ignition', 'report']

/**
 * What the script of a decision makes the machine ask or tell us once it has its files, so that its absence means
 * something. A report comes from a config of ours, so it never stands alone.
 */
export function expectationsOf(decision: BootDecision): readonly BootExpectation[] {
  if (decision.kind !== 'live' && decision.kind !== 'install') return nothing
  const { parameters, bootimage } = decision
  const isInstaller = decision.kind === 'install' && bootimage.kind === 'live' && installerReports(parameters)
  if (isInstaller || makesReports(parameters)) return ignitionAndReport
  return servesIgnition(parameters) ? ignition : nothing
}
