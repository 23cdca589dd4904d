import { type Ipv4, isInSubnet, subnetBroadcast, toIpv4 } from '../../core/ipv4.ts'
import type { AddressRange, DhcpSubnet } from '../dhcp-settings.ts'

/** Which addresses of a subnet may be given out at all, and which of them to anybody. */
export interface AddressRanges {
  /** Addresses in the ranges, reserved ones and our own included. */
  readonly size: number
  /** The address at a position of 0 to `size` - 1, counted over all ranges. */
  at(index: number): Ipv4
  isInRanges(address: Ipv4): boolean
  /** Whether a machine in this subnet can have it: neither network nor broadcast address. */
  isHostAddress(address: Ipv4): boolean
}

export function createAddressRanges({
  subnet,
  ranges,
}: Pick<DhcpSubnet, 'subnet' | 'ranges'>): AddressRanges {
  const broadcast = subnetBroadcast(subnet)
  // /31 and /32 have no network and broadcast addresses (RFC 3021).
  const hasReservedEnds = subnet.prefix < 31

  return {
    size: ranges.reduce((sum, range) => sum + sizeOf(range), 0),
    at(index) {
      let left = index
      for (const range of ranges) {
        const size = sizeOf(range)
        if (left < size) return toIpv4(range.first + left)
        left -= size
      }
      throw new RangeError(`the ranges have no address number ${index}`)
    },
    isInRanges: (address) => ranges.some(({ first, last }) => address >= first && address <= last),
    isHostAddress: (address) =>
      isInSubnet(address, subnet) &&
      !(hasReservedEnds && (address === subnet.network || address === broadcast)),
  }
}

function sizeOf({ first, last }: AddressRange): number {
  return last - first + 1
}
