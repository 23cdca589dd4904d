/** An IP address as bytes in network order: 4 of them or 16. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly bytes: readonly number[]
}

const decimalOctet = /^(?:0|[1-9]\d{0,2})$/
const hexGroup = /^[0-9a-f]{1,4}$/

/**
 * Reads an address in its textual form (RFC 4291 §2.2 for IPv6, with or without brackets and zone).
 * IPv4 is four plain decimals: forms with fewer parts, octal or hexadecimal are refused, since URL parsing has
 * already turned those into four decimals.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (!bare.includes(':')) {
    const bytes = parseIpv4(bare)
    return bytes && { family: 4, bytes }
  }
  const bytes = parseIpv6(bare.replace(/%.*$/, '').toLowerCase())
  return bytes && { family: 6, bytes }
}

/**
 * The IPv4 address that an IPv6 address stands for, if it does: v4-mapped and v4-compatible (RFC 4291 §2.5.5),
 * NAT64's well-known prefix (RFC 6052) and 6to4 (RFC 3056). Each is a way to write a loopback address that does not look like one.
 */
export function embeddedIpv4({ family, bytes }: IpAddress): IpAddress | undefined {
  if (family === 4) return undefined
  const startsWith = (...prefix: number[]) => prefix.every((byte, index) => bytes[index] === byte)
  const zeros = new Array<number>(10).fill(0)
  if (startsWith(0x20, 0x02)) return { family: 4, bytes: bytes.slice(2, 6) }
  const isNat64 = startsWith(0, 0x64, 0xff, 0x9b, ...new Array<number>(8).fill(0))
  const isMapped = startsWith(...zeros, 0xff, 0xff)
  const isCompatible = startsWith(...zeros, 0, 0) && bytes.slice(12).some((byte) => byte > 1)
  return isNat64 || isMapped || isCompatible ? { family: 4, bytes: bytes.slice(12) } : undefined
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => decimalOctet.test(part))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const isShortened = halves.length === 2
  const head = parseGroups(halves[0] ?? '', !isShortened)
  const tail = parseGroups(halves[1] ?? '', true)
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (isShortened ? missing < 2 : missing !== 0) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/** Colon-separated groups; only the end of an address may be written like an IPv4 one. */
function parseGroups(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const bytes: number[] = []
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const isLast = index === groups.length - 1
      const ipv4 = isLast && mayEndInIpv4 ? parseIpv4(group) : undefined
      if (!ipv4) return undefined
      bytes.push(...ipv4)
      continue
    }
    if (!hexGroup.test(group)) return undefined
    const value = Number.parseInt(group, 16)
    bytes.push(value >> 8, value & 0xff)
  }
  return bytes
}
