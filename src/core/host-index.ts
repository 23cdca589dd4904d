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

/** Visits everything that a host can be recognised by; called for every host at a start, so it makes nothing. */
type VisitMark = <Key extends string | number>(
  index: Map<Key, Host>,
  key: Key,
  kind: 'MAC' | 'UUID' | 'serial' | 'address',
  host: Host,
) => void

/**
 * Where two hosts claim the same MAC, UUID (in either byte order, field case 155), serial or address, what a file says
 * stands before what was made at run time; then the first one of the files, and the first id of the others.
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

  function eachMark(host: Host, visit: VisitMark): void {
    const { macs, uuid, serial, address } = host
    for (const mac of macs) visit(hostsByMac, mac, 'MAC', host)
    if (uuid !== undefined) {
      visit(hostsByUuid, uuid, 'UUID', host)
      visit(hostsByUuid, swapUuidByteOrder(uuid), 'UUID', host)
    }
    if (serial !== undefined) visit(hostsBySerial, serial, 'serial', host)
    if (address !== undefined) visit(hostsByAddress, address, 'address', host)
  }

  const claim: VisitMark = (index, key, kind, host) => {
    const before = index.get(key)
    if (before === host) return
    if (before === undefined) {
      index.set(key, host)
      return
    }
    const text = markText(kind, key)
    const others = claimants.get(text) ?? [before]
    if (others.includes(host)) return
    const all = [...others, host].sort(byPrecedence)
    claimants.set(text, all)
    index.set(key, all[0] ?? host)
  }

  const release: VisitMark = (index, key, kind, host) => {
    const text = claimants.size === 0 ? '' : markText(kind, key)
    const [next, ...more] = claimants.get(text)?.filter((claimant) => claimant !== host) ?? []
    if (next === undefined) {
      if (index.get(key) === host) index.delete(key)
      return
    }
    index.set(key, next)
    if (more.length === 0) claimants.delete(text)
    else claimants.set(text, [next, ...more])
  }

  return {
    maps: { hostsById, hostsByMac, hostsByUuid, hostsBySerial, hostsByAddress, pinnedHosts },
    add(host) {
      if (hostsById.has(host.id)) return
      hostsById.set(host.id, host)
      eachMark(host, claim)
      if (host.pins === undefined) return
      pinnedHosts.add(host.id)
      for (const { until } of host.pins) ends.add(until)
    },
    remove(host) {
      if (hostsById.get(host.id) !== host) return
      hostsById.delete(host.id)
      eachMark(host, release)
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

function markText(kind: string, key: string | number): string {
  return `${kind} ${typeof key === 'number' ? formatIpv4(key as Ipv4) : key}`
}

function byPrecedence(a: Host, b: Host): number {
  const isOfFile = ({ origin }: Host) => Number(origin.file !== undefined)
  if (isOfFile(a) || isOfFile(b)) return isOfFile(b) - isOfFile(a)
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
