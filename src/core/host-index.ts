import type { EndTimes } from './end-times.ts'
import type { Host, Inventory } from './host.ts'
import { formatIpv4, type Ipv4 } from './ipv4.ts'
import type { MacAddress } from './mac.ts'
import { swapUuidByteOrder, type Uuid } from './uuid.ts'

/** A mark of a machine that two records claim. */
export interface ContestedMark {
  /** `MAC 52:54:00:ab:cd:ef`, `serial ABC` … */
  readonly mark: string
  readonly keptBy: Host
  readonly lostBy: Host
}

type HostMaps = Pick<
  Inventory,
  'hostsById' | 'hostsByMac' | 'hostsByUuid' | 'hostsBySerial' | 'hostsByAddress' | 'pinnedHosts'
>

/** Hosts by every way to recognise a machine; each change costs as much as the host has marks. */
export interface HostIndex {
  /** The same maps, whatever is added or removed. */
  readonly maps: HostMaps
  /** Of a host whose id is there already, nothing is taken up. */
  add(host: Host): void
  /** The very object that was added. */
  remove(host: Host): void
  contested(): readonly ContestedMark[]
}

/** What a host can be recognised by. */
interface Mark {
  readonly text: string
  holder(): Host | undefined
  give(to: Host | undefined): void
}

function markIn<Key>(index: Map<Key, Host>, key: Key, text: string): Mark {
  return {
    text,
    holder: () => index.get(key),
    give(to) {
      if (to === undefined) index.delete(key)
      else index.set(key, to)
    },
  }
}

/**
 * Where two hosts claim the same MAC, UUID (in either byte order, field case 155), serial or address, what a file says
 * stands before what was made at run time, and then the one that was there first.
 */
export function createHostIndex(ends: EndTimes): HostIndex {
  const hostsById = new Map<string, Host>()
  const hostsByMac = new Map<MacAddress, Host>()
  const hostsByUuid = new Map<Uuid, Host>()
  const hostsBySerial = new Map<string, Host>()
  const hostsByAddress = new Map<Ipv4, Host>()
  const pinnedHosts = new Set<string>()
  /** Whoever claims a mark that several do, by its text, the first one has it. */
  const claimants = new Map<string, Host[]>()

  function marksOf({ macs, uuid, serial, address }: Host): readonly Mark[] {
    const marks: Mark[] = macs.map((mac) => markIn(hostsByMac, mac, `MAC ${mac}`))
    if (uuid !== undefined) {
      for (const key of new Set([uuid, swapUuidByteOrder(uuid)])) {
        marks.push(markIn(hostsByUuid, key, `UUID ${key}`))
      }
    }
    if (serial !== undefined) marks.push(markIn(hostsBySerial, serial, `serial ${serial}`))
    if (address !== undefined) marks.push(markIn(hostsByAddress, address, `address ${formatIpv4(address)}`))
    return marks
  }

  function claim({ text, holder, give }: Mark, host: Host): void {
    const before = holder()
    if (before === host) return
    if (before === undefined) {
      give(host)
      return
    }
    const all = claimants.get(text) ?? [before]
    const place =
      host.origin.file === undefined ? all.length : all.findIndex(({ origin }) => origin.file === undefined)
    all.splice(place < 0 ? all.length : place, 0, host)
    claimants.set(text, all)
    give(all[0])
  }

  function release({ text, holder, give }: Mark, host: Host): void {
    const others = claimants.get(text)?.filter((claimant) => claimant !== host)
    const [next, ...more] = others ?? []
    if (next === undefined) {
      if (holder() === host) give(undefined)
      return
    }
    give(next)
    if (more.length === 0) claimants.delete(text)
    else claimants.set(text, [next, ...more])
  }

  return {
    maps: { hostsById, hostsByMac, hostsByUuid, hostsBySerial, hostsByAddress, pinnedHosts },
    add(host) {
      if (hostsById.has(host.id)) return
      hostsById.set(host.id, host)
      for (const mark of marksOf(host)) claim(mark, host)
      if (host.pins === undefined) return
      pinnedHosts.add(host.id)
      for (const { until } of host.pins) ends.add(until)
    },
    remove(host) {
      if (hostsById.get(host.id) !== host) return
      hostsById.delete(host.id)
      for (const mark of marksOf(host)) release(mark, host)
      if (host.pins === undefined) return
      pinnedHosts.delete(host.id)
      for (const { until } of host.pins) ends.remove(until)
    },
    contested: () =>
      [...claimants].flatMap(([mark, [keptBy, ...losers]]) =>
        losers.flatMap((lostBy) => (keptBy === undefined ? [] : [{ mark, keptBy, lostBy }])),
      ),
  }
}
