import { readFileSync } from 'node:fs'
import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** The MTU of the interface that holds a local address, in bytes; `undefined` where it cannot be told. */
export type MtuOf = (localAddress: string) => number | undefined

const rereadAfterMs = 30_000

function interfaceOf(localAddress: string): string | undefined {
  const [address = ''] = localAddress.split('%')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  for (const [name, entries = []] of Object.entries(networkInterfaces())) {
    if (entries.some((entry) => entry.address === address)) return name
  }
  // 127.0.0.9 is no listed address, but one of the loopback's network.
  for (const [name, entries = []] of Object.entries(networkInterfaces())) {
    for (const { internal, cidr, family: entryFamily } of entries) {
      if (!internal || cidr === null || entryFamily.toLowerCase() !== family) continue
      const [network = '', prefix = ''] = cidr.split('/')
      const list = new BlockList()
      list.addSubnet(network, Number(prefix), family)
      if (list.check(address, family)) return name
    }
  }
  return undefined
}

function readMtu(name: string): number | undefined {
  try {
    const [device = ''] = name.split(':')
    const mtu = Number(readFileSync(`/sys/class/net/${device}/mtu`, 'utf8'))
    return Number.isInteger(mtu) && mtu > 0 ? mtu : undefined
  } catch {
    return undefined
  }
}

/** Asks the kernel (Linux: `/sys/class/net`), and again after half a minute, because an admin may change it. */
export function createInterfaceMtu(now: () => number): MtuOf {
  const known = new Map<string, { readAt: number; mtu: number | undefined }>()
  return (localAddress) => {
    const cached = known.get(localAddress)
    if (cached !== undefined && now() - cached.readAt < rereadAfterMs) return cached.mtu
    const name = interfaceOf(localAddress)
    const mtu = name === undefined ? undefined : readMtu(name)
    known.set(localAddress, { readAt: now(), mtu })
    return mtu
  }
}
