import type { BootDetail } from '../../schemas/boots.ts'
import { bootParts, decisionWord, factsOf, shownDiagnosis } from './boot-parts.ts'

/** One boot, with everything that is known of it. */
export function bootView(boot: BootDetail, now: number): object {
  return {
    ...bootParts(boot, now),
    host: boot.host,
    macsText: boot.mac ?? '',
    diagnosis: shownDiagnosis(boot.diagnosis, now),
    decision: {
      kind: boot.decision === undefined ? undefined : decisionWord(boot.decision),
      reasons: boot.reasons,
    },
    facts: factsOf([
      ['MAC', boot.mac],
      ['Address', boot.address],
      ['UUID', boot.uuid],
      ['Serial', boot.serial],
      ['Architecture', boot.arch],
      ['Firmware', boot.firmware],
      ['Loader', boot.loader],
      ['Bootimage', boot.bootimage],
      ['Reported', boot.osVersion],
      ['Attempt', boot.id],
      ['Boot ids', boot.bootIds.join(', ')],
    ]),
  }
}
