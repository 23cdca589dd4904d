import { type BootView, decideBoot } from '../../core/decide-boot.ts'
import type { Host } from '../../core/host.ts'
import { reasonText } from '../../core/reason.ts'
import { clientFromQuery } from '../machine-query.ts'

/** What a host gets when it asks the next time, and the reason that decides: `installs 44.1 to /dev/sda: pinned to …`. */
export function nextBootText(host: Host, view: BootView): string {
  const decision = decideBoot(clientFromQuery({ host: host.id }, view.inventory), view)
  const why = reasonText(decision.reasons[0])
  switch (decision.kind) {
    case 'install':
      return `installs ${decision.bootimage.release} to ${decision.device}: ${why}`
    case 'wait':
      return `waits, and installs as soon as it can: ${why}`
    case 'hold':
      return `is held until that ends: ${why}`
    default:
      return `does not install (${decision.kind}): ${why}`
  }
}
