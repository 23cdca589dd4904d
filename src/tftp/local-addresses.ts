import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export function isWildcard(address: string): boolean {
  return wildcards.has(address)
}

/**
 * This machine's addresses of the family of `wildcard`. A socket on a wildcard address cannot tell which address was
 * asked, so each gets one of its own and answers from it (field cases 35, 50). Link-local ones carry their interface.
 */
export function addressesBehind(
  wildcard: string,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): readonly string[] {
  const family = isIPv6(wildcard) ? 'IPv6' : 'IPv4'
  const found = Object.entries(interfaces).flatMap(([name, entries = []]) =>
    entries
      .filter((entry) => entry.family === family)
      .map(({ address }) => (/^fe[89ab]/i.test(address) ? `${address}%${name}` : address)),
  )
  return [...new Set(found)]
}
