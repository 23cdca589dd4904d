import type { Host } from '../../core/host.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import { swapUuidByteOrder } from '../../core/uuid.ts'

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

/** A UUID in both byte orders (field case 155). */
function marksOf({ macs, uuid, serial, address }: Host): readonly string[] {
  const uuids = uuid === undefined ? [] : [...new Set([uuid, swapUuidByteOrder(uuid)])]
  return [
    ...macs.map((mac) => `MAC ${mac}`),
    ...uuids.map((each) => `UUID ${each}`),
    ...(serial === undefined ? [] : [`serial ${serial}`]),
    ...(address === undefined ? [] : [`address ${formatIpv4(address)}`]),
  ]
}
