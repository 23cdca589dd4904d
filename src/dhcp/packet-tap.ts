import { type Ipv4, toIpv4 } from '../core/ipv4.ts'
import { uint32At } from './options.ts'
import { headerAt } from './packet.ts'

/** Sees every packet as it comes and goes; its bytes are valid during the call alone. */
export type DhcpTap = (
  bytes: Uint8Array,
  isOurs: boolean,
  local: Ipv4,
  localPort: number,
  peer: Ipv4,
  peerPort: number,
) => void

/**
 * Who sent a packet to port 67, as the packet itself says: its relay, else the client, from the address that it has.
 * Packets that come many in a call are not asked where they came from.
 */
export function senderOf(bytes: Uint8Array): Ipv4 {
  if (bytes.length < headerAt.chaddr) return toIpv4(0)
  const relay = uint32At(bytes, headerAt.giaddr)
  return toIpv4(relay === 0 ? uint32At(bytes, headerAt.ciaddr) : relay)
}

export function isRelayed(bytes: Uint8Array): boolean {
  return bytes.length >= headerAt.chaddr && uint32At(bytes, headerAt.giaddr) !== 0
}
