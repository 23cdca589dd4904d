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
  if (bits === undefined) return undefined
  const name = Buffer.alloc(8)
  name.writeUInt16LE(afInet, 0)
  name.writeUInt16BE(port, 2)
  name.writeUInt32BE(bits, 4)
  return { familyAndPort: name.readUInt32LE(0), address: name.readUInt32LE(4) }
}

/** The address of a key that a batch gave. */
export function addressOfKey(key: number): { readonly address: string; readonly port: number } {
  const bits = Math.floor(key / 65536)
  const octets = [Math.floor(bits / 16777216), (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255]
  return { address: octets.join('.'), port: key % 65536 }
}
