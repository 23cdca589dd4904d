import { embeddedIpv4, type IpAddress, parseIpAddress } from './ip-address.ts'

export type AddressKind =
  | 'loopback'
  | 'link-local'
  | 'unspecified'
  | 'multicast'
  | 'reserved'
  | 'private-or-public'

/**
 * What an address is good for (IANA special-purpose registries, RFC 6890). Private networks count like public ones:
 * a site's mirror lives there. An IPv6 address that embeds an IPv4 one is judged by the one inside.
 */
export function classifyAddress(address: IpAddress): AddressKind {
  const inner = embeddedIpv4(address)
  if (inner) return classifyAddress(inner)
  const [first = 0, second = 0] = address.bytes
  if (address.family === 4) {
    if (first === 0) return 'unspecified'
    if (first === 127) return 'loopback'
    if (first === 169 && second === 254) return 'link-local'
    if (first >= 224 && first < 240) return 'multicast'
    if (first >= 240) return 'reserved'
    return 'private-or-public'
  }
  if (address.bytes.slice(0, 15).every((byte) => byte === 0)) {
    return address.bytes[15] === 1 ? 'loopback' : 'unspecified'
  }
  if (first === 0xfe && (second & 0xc0) === 0x80) return 'link-local'
  if (first === 0xff) return 'multicast'
  return 'private-or-public'
}

/** Why we would not connect to this address unasked; `undefined` when we would (field case 163). */
export function addressRefusal(text: string): Exclude<AddressKind, 'private-or-public'> | undefined {
  const address = parseIpAddress(text)
  if (!address) return undefined
  const kind = classifyAddress(address)
  return kind === 'private-or-public' ? undefined : kind
}

/**
 * Why a webhook does not go to this address; `undefined` when it does. The URL is an admin's own word, so this machine
 * and every private network are as good as others, and only what is no service at an address of its own is not: the
 * metadata service of a cloud has a link-local one (field case 163).
 */
export function webhookAddressRefusal(
  text: string,
): Exclude<AddressKind, 'private-or-public' | 'loopback'> | undefined {
  const kind = addressRefusal(text)
  return kind === 'loopback' ? undefined : kind
}

/** `localhost` and everything under it mean this machine, whatever a resolver says (RFC 6761 §6.3). */
export function isLocalhostName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}
