/** An IPv4 address and port as the two little-endian words with which `struct sockaddr_in` begins. */
export interface PeerName {
  readonly familyAndPort: number
  readonly address: number
}

/** Finds a peer: a number for IPv4 (address times 65536, plus port), text for the rest. */
export type PeerKey = number | string

const afInet = 2

/** The 32 bits of a dotted quad; `undefined` for anything else. */
function ipv4Bits(address: string): number | undefined {
  let bits = 0
  let octet = 0
  let dots = 0
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at)
    if (code === 0x2e) {
      bits = bits * 256 + octet
      octet = 0
      dots += 1
    } else if (code >= 0x30 && code <= 0x39) octet = octet * 10 + code - 0x30
    else return undefined
  }
  return dots === 3 ? bits * 256 + octet : undefined
}

export function peerKey(address: string, port: number): PeerKey {
  const bits = ipv4Bits(address)
  return bits === undefined ? `${address} ${port}` : bits * 65536 + port
}

/** `undefined` for what is not IPv4. */
export function peerName(address: string, port: number): PeerName | undefined {
  const bits = ipv4Bits(address)
  return bits === undefined ? undefined : ipv4PeerName(bits, port)
}

/** @param bits the 32 bits of the address, as a number */
export function ipv4PeerName(bits: number, port: number): PeerName {
  return { familyAndPort: (swap32(port) | afInet) >>> 0, address: swap32(bits) }
}

/** The same four bytes in the other order. */
function swap32(value: number): number {
  return ((value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)) >>> 0
}

export function addressOfPeerName({ familyAndPort, address }: PeerName): {
  readonly address: number
  readonly port: number
} {
  return { address: swap32(address), port: swap32(familyAndPort) & 0xffff }
}

/** The address of a key that a batch gave. */
export function addressOfKey(key: number): { readonly address: string; readonly port: number } {
  const bits = Math.floor(key / 65536)
  const octets = [Math.floor(bits / 16777216), (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255]
  return { address: octets.join('.'), port: key % 65536 }
}
