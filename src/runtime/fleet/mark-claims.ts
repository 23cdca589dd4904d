import type { Host } from '../../core/host.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import { machineMarks } from '../../core/machine-marks.ts'

/** Finds hosts of one text that claim the same mark. */
export interface MarkClaims {
  claim(host: Host): readonly { readonly mark: string; readonly other: string }[]
}

export function createMarkClaims(): MarkClaims {
  const holders = new Map<string, string>()
  return {
    claim(host) {
      return marksOf(host).flatMap((mark) => {
        const other = holders.get(mark)
        holders.set(mark, other ?? host.id)
        return other === undefined || other === host.id ? [] : [{ mark, other }]
      })
    },
  }
}

function marksOf(host: Host): readonly string[] {
  const { address } = host
  return [...machineMarks(host), ...(address === undefined ? [] : [`address ${formatIpv4(address)}`])]
}
