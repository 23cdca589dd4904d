import { networkInterfaces } from 'node:os'
import { type Ipv4, parseIpv4 } from '../core/ipv4.ts'

/** The IPv4 addresses of the interfaces that are up, by interface name, in the kernel's order. */
export type InterfaceAddresses = ReadonlyMap<string, readonly Ipv4[]>

export function listInterfaceAddresses(): InterfaceAddresses {
  const byInterface = new Map<string, readonly Ipv4[]>()
  for (const [name, entries = []] of Object.entries(networkInterfaces())) {
    const addresses = entries
      .filter(({ family }) => family === 'IPv4')
      .map(({ address }) => parseIpv4(address))
      .filter((address) => address !== undefined)
    if (addresses.length > 0) byInterface.set(name, addresses)
  }
  return byInterface
}
