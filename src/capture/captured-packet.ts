import type { Ipv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'

/** One UDP packet as it was kept. */
export interface CapturedPacket {
  /** Ms since the epoch. */
  readonly at: number
  /** It left here. */
  readonly isOurs: boolean
  readonly local: Ipv4
  readonly localPort: number
  readonly peer: Ipv4
  readonly peerPort: number
  /** Its beginning, or all of it. */
  readonly bytes: Uint8Array
  /** What it was on the wire, without its headers. */
  readonly fullLength: number
}

declare const ownerBrand: unique symbol
/** Whose packets: a MAC as its 48-bit number, or above those an IPv4 address of which no MAC is known. */
export type PacketOwner = number & { readonly [ownerBrand]: true }

const firstAddress = 2 ** 48

export function ownerOfMac(mac: MacAddress): PacketOwner {
  return Number.parseInt(mac.replaceAll(':', ''), 16) as PacketOwner
}

/** The MAC in six bytes of a packet; as a number, because a text for each packet would cost more than its copy. */
export function ownerOfMacBytes(bytes: Uint8Array, at: number): PacketOwner {
  const high = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
  const low = ((bytes[at + 3] ?? 0) << 16) | ((bytes[at + 4] ?? 0) << 8) | (bytes[at + 5] ?? 0)
  return (high * 0x1000000 + low) as PacketOwner
}

export function ownerOfAddress(address: Ipv4): PacketOwner {
  return (firstAddress + address) as PacketOwner
}

/** `undefined` for an address. */
export function macOfOwner(owner: PacketOwner): MacAddress | undefined {
  if (owner >= firstAddress) return undefined
  const digits = owner.toString(16).padStart(12, '0')
  return (digits.match(/../g) ?? []).join(':') as MacAddress
}
