import type { Leases } from '../../boot/leases.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { Host } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { BootsSeen } from './fleet-context.ts'

/** Hosts whose last boot is remembered, and as many cards. */
const mostHosts = 131_072

interface Sight {
  readonly at: number
  readonly mac?: MacAddress
}

/**
 * What boots tell of hosts: the attempts that hold leases, and when each machine was last answered. A machine is known
 * by its MAC, so that a host which gets another name stays seen, and whoever gets the name next is not.
 */
export function createBootsSeen(options: {
  readonly leases: Pick<Leases, 'attempts'>
  /** When a machine asked that no record matched then. */
  readonly strangerSeenAt?: (mac: MacAddress) => number | undefined
  readonly flagsOf: BootsSeen['flagsOf']
}): BootsSeen & { note(event: BootEvent): void; restore(): void } {
  const { leases, strangerSeenAt = () => undefined } = options
  /** The longest ago first. */
  const byHost = new Map<string, Sight>()
  const byMac = new Map<MacAddress, number>()

  function saw(mac: MacAddress, at: number): void {
    keepLast(byMac, mac, Math.max(at, byMac.get(mac) ?? 0))
  }

  function see(host: string, at: number, said: MacAddress | undefined): void {
    const before = byHost.get(host)
    // What a token brings names the host alone; its boot began with a MAC.
    const mac = said ?? before?.mac
    keepLast(byHost, host, { at: Math.max(at, before?.at ?? 0), ...(mac === undefined ? {} : { mac }) })
    if (mac !== undefined) saw(mac, at)
  }

  return {
    attempts: () => leases.attempts(),
    lastSeenAt(host) {
      const own = byHost.get(host.id)
      const cards = host.macs.flatMap((mac) => [byMac.get(mac) ?? 0, strangerSeenAt(mac) ?? 0])
      const last = Math.max(0, ...cards, own !== undefined && isSightOf(host, own) ? own.at : 0)
      return last === 0 ? undefined : last
    },
    saw,
    flagsOf: options.flagsOf,
    note(event) {
      if ('host' in event && event.host !== undefined) see(event.host, event.at, event.mac)
    },
    restore() {
      for (const { host, mac, lastSeenAt } of leases.attempts()) {
        if (host !== undefined) see(host, lastSeenAt, mac)
        else if (mac !== undefined) saw(mac, lastSeenAt)
      }
    },
  }
}

/** A host that is recognised by its UUID or serial may ask with any card. */
function isSightOf({ macs, uuid, serial }: Host, { mac }: Sight): boolean {
  return mac === undefined || macs.includes(mac) || uuid !== undefined || serial !== undefined
}

function keepLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  // Far from full the order does not matter, and every boot comes by here.
  if (map.size > mostHosts / 2) map.delete(key)
  map.set(key, value)
  if (map.size <= mostHosts) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
