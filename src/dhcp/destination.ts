import { type Ipv4, limitedBroadcastIpv4 } from '../core/ipv4.ts'
import type { DhcpPacket } from './packet.ts'

/** The UDP ports of one service; others than the defaults are for tests. */
export interface DhcpPorts {
  readonly server: number
  readonly client: number
  readonly proxy: number
}

export const standardPorts: DhcpPorts = { server: 67, client: 68, proxy: 4011 }

export interface Destination {
  readonly address: Ipv4
  readonly port: number
}

/**
 * Where a reply from the server port goes (RFC 2131 §4.1). A relay first (field case 32). Then an address that the
 * client holds, but not for a refusal. Else the limited broadcast, whatever the broadcast flag says: a socket cannot
 * unicast to an address that is not answered for yet, and UEFI drops subnet broadcasts (34).
 */
export function replyDestination(
  { giaddr, ciaddr }: Pick<DhcpPacket, 'giaddr' | 'ciaddr'>,
  isRefusal: boolean,
  ports: DhcpPorts,
): Destination {
  if (giaddr !== 0) return { address: giaddr, port: ports.server }
  if (ciaddr !== 0 && !isRefusal) return { address: ciaddr, port: ports.client }
  return { address: limitedBroadcastIpv4, port: ports.client }
}
