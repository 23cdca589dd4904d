declare const ipv4Brand: unique symbol

/** An IPv4 address as its unsigned 32-bit value in host order, so that ranges and masks are plain arithmetic. */
export type Ipv4 = number & { readonly [ipv4Brand]: true }

/** A network: `network` has no bit set below the prefix. */
export interface Ipv4Subnet {
  readonly network: Ipv4
  /** 0 to 32. */
  readonly prefix: number
}

export const unspecifiedIpv4 = 0 as Ipv4
export const limitedBroadcastIpv4 = 0xffffffff as Ipv4

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const dottedQuad = new RegExp(`^${octet}\\.${octet}\\.${octet}\\.${octet}$`)

/** Reads a dotted quad. Leading zeros are refused, because some readers take them for octal. */
export function parseIpv4(text: string): Ipv4 | undefined {
  const match = dottedQuad.exec(text.trim())
  if (!match) return undefined
  const [a, b, c, d] = match.slice(1).map(Number) as [number, number, number, number]
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) as Ipv4
}

export function formatIpv4(address: Ipv4): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`
}

/** Eight upper-case hex digits, the name under which PXELINUX and GRUB ask for a machine's address. */
export function ipv4Hex(address: Ipv4): string {
  return address.toString(16).toUpperCase().padStart(8, '0')
}

/** Takes any number's low 32 bits; for values read from packets and for arithmetic on addresses. */
export function toIpv4(value: number): Ipv4 {
  return (value >>> 0) as Ipv4
}

/** Reads `192.0.2.0/24`. Host bits below the prefix are refused: they are more often a typo than a network. */
export function parseIpv4Subnet(text: string): Ipv4Subnet | undefined {
  const [address = '', length, ...rest] = text.trim().split('/')
  const network = parseIpv4(address)
  if (network === undefined || length === undefined || rest.length > 0) return undefined
  if (!/^(3[0-2]|[12]?[0-9])$/.test(length)) return undefined
  const subnet = subnetOf(network, Number(length))
  return subnet.network === network ? subnet : undefined
}

/** The network that `address` is in, given a prefix length of 0 to 32. */
export function subnetOf(address: Ipv4, prefix: number): Ipv4Subnet {
  return { network: toIpv4(address & netmask(prefix)), prefix }
}

export function netmask(prefix: number): Ipv4 {
  return toIpv4(prefix === 0 ? 0 : 0xffffffff << (32 - prefix))
}

/** The prefix length of a contiguous mask; `undefined` for a mask with holes. */
export function prefixOfNetmask(mask: Ipv4): number | undefined {
  const prefix = 32 - Math.log2((~mask >>> 0) + 1)
  return Number.isInteger(prefix) ? prefix : undefined
}

export function subnetBroadcast({ network, prefix }: Ipv4Subnet): Ipv4 {
  return toIpv4(network | ~netmask(prefix))
}

export function isInSubnet(address: Ipv4, { network, prefix }: Ipv4Subnet): boolean {
  return toIpv4(address & netmask(prefix)) === network
}

export function formatIpv4Subnet({ network, prefix }: Ipv4Subnet): string {
  return `${formatIpv4(network)}/${prefix}`
}

export function isLoopbackIpv4(address: Ipv4): boolean {
  return address >>> 24 === 127
}

/** Whether a machine could use it as its own: neither 0.0.0.0/8, nor multicast and above, nor loopback. */
export function isUnicastIpv4(address: Ipv4): boolean {
  const first = address >>> 24
  return first !== 0 && first !== 127 && first < 224
}
