import type { BootPhase } from '../boot-attempt.ts'
import type { BootPatternCode } from '../boot-pattern.ts'

/** Where a boot is stuck that shows a pattern, though its firmware may be back at its DHCP by then. */
export const phasesOfPatterns: Readonly<Partial<Record<BootPatternCode, BootPhase>>> = {
  'loader-of-wrong-architecture': 'loader',
  'loader-loop': 'loader',
  'script-not-fetched': 'loader',
}
