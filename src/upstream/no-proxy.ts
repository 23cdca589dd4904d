import { classifyAddress, isLocalhostName } from './address-rules.ts'
import { type IpAddress, parseIpAddress } from './ip-address.ts'

/**
 * Whether a URL is fetched directly although a proxy is set.
 *
 * The list is what `NO_PROXY` holds by common convention (the rules of curl and Go): entries between commas or
 * spaces; `*`; a host name, which also covers what is below it, with or without a leading dot or `*.`; an address;
 * a CIDR block; each with an optional `:port`. Loopback never goes to a proxy: there it would mean the proxy itself.
 */
export function bypassesProxy(url: URL, noProxy: string | undefined): boolean {
  const hostname = url.hostname.toLowerCase().replace(/\.$/, '')
  const address = parseIpAddress(hostname)
  if (isLocalhostName(hostname)) return true
  if (address && classifyAddress(address) === 'loopback') return true
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const entries = (noProxy ?? '').toLowerCase().split(/[\s,]+/)
  return entries.some((entry) => entry !== '' && entryCovers(entry, hostname, address, port))
}

function entryCovers(entry: string, hostname: string, address: IpAddress | undefined, port: string): boolean {
  if (entry === '*') return true
  const { host, port: onlyPort } = splitPort(entry)
  if (onlyPort !== undefined && onlyPort !== port) return false
  const slash = host.indexOf('/')
  if (slash !== -1) {
    return address !== undefined && blockContains(host.slice(0, slash), host.slice(slash + 1), address)
  }
  const listed = parseIpAddress(host)
  if (listed) return address !== undefined && sameBits(listed, address, listed.bytes.length * 8)
  const suffix = host.replace(/^\*?\./, '').replace(/\.$/, '')
  return suffix !== '' && (hostname === suffix || hostname.endsWith(`.${suffix}`))
}

/** Several colons without brackets are an IPv6 address, not a host and a port. */
function splitPort(entry: string): { host: string; port?: string } {
  const bracketed = /^(\[[^\]]*\])(?::(\d+))?$/.exec(entry)
  const plain = bracketed ?? /^([^:]*):(\d+)$/.exec(entry)
  if (!plain) return { host: entry }
  return { host: plain[1] ?? '', ...(plain[2] === undefined ? {} : { port: plain[2] }) }
}

function blockContains(base: string, prefix: string, address: IpAddress): boolean {
  const block = parseIpAddress(base)
  if (!block || !/^\d{1,3}$/.test(prefix)) return false
  const bits = Number(prefix)
  return bits <= block.bytes.length * 8 && sameBits(block, address, bits)
}

function sameBits(left: IpAddress, right: IpAddress, bits: number): boolean {
  if (left.family !== right.family) return false
  return left.bytes.every((byte, index) => {
    const used = Math.min(8, Math.max(0, bits - index * 8))
    const mask = (0xff << (8 - used)) & 0xff
    return (byte & mask) === ((right.bytes[index] ?? 0) & mask)
  })
}
