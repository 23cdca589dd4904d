import type { AttemptId, AttemptState, BootAttempt } from '../../core/boot-attempt.ts'
import type { BootPatternCode } from '../../core/boot-pattern.ts'
import type { Host } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { MachineState } from '../../http/admin/schemas/boots.ts'
import { releaseOf } from './boot-summary.ts'
import { machineStateOf } from './machine-state.ts'

/** What lists tell of the last boot of a machine, without its steps. */
export interface Sight {
  readonly attempt: AttemptId
  readonly host?: string
  readonly mac?: MacAddress
  readonly state: MachineState
  /** What it booted last, as far as it is known. */
  readonly release?: string
  readonly pattern?: BootPatternCode
  /** Ms since the epoch. */
  readonly seenAt: number
}

/** The last boot of each host and of each card, kept from list to list. */
export interface MachineIndex {
  /** This boot moved; it is looked at when somebody asks. */
  changed(id: AttemptId): void
  /** Grows whenever something that it tells may have changed. */
  version(): number
  /** Whose last boot changed since this was asked; for one who keeps what was told. */
  takeChanged(): { readonly hosts: ReadonlySet<string>; readonly macs: ReadonlySet<MacAddress> }
  ofHost(host: Host): Sight | undefined
  ofCard(mac: MacAddress): Sight | undefined
  /** How many machines are in which state. */
  counts(): Readonly<Record<AttemptState, number>>
  /** Of every card that booted, whoever's. */
  cards(): Iterable<readonly [MacAddress, Sight]>
}

/** Hosts whose last boot is remembered, and as many cards. */
const mostMachines = 131_072

/**
 * A machine is known by its MAC, so that a host which gets another name stays seen, and whoever gets the name next is
 * not.
 */
export function createMachineIndex({
  attempt: find,
  maximum = mostMachines,
}: {
  readonly attempt: (id: AttemptId) => BootAttempt | undefined
  readonly maximum?: number
}): MachineIndex {
  const changed = new Set<AttemptId>()
  /** The longest unchanged first. */
  const byHost = new Map<string, Sight>()
  const byMac = new Map<MacAddress, Sight>()
  let version = 0
  let changedHosts = new Set<string>()
  let changedMacs = new Set<MacAddress>()

  function takeUp(): void {
    if (changed.size === 0) return
    version += 1
    for (const id of changed) {
      const attempt = find(id)
      if (attempt === undefined) continue
      const { host, mac } = attempt
      const before = (host === undefined ? undefined : byHost.get(host)) ?? (mac && byMac.get(mac))
      // A boot of the past that is told of late changes nothing now.
      if (before !== undefined && before.attempt > id) continue
      const sight = sightOf(attempt, before)
      if (host !== undefined) keepLast(byHost, host, sight, changedHosts)
      if (mac !== undefined) keepLast(byMac, mac, sight, changedMacs)
    }
    changed.clear()
  }

  function keepLast<Key>(map: Map<Key, Sight>, key: Key, sight: Sight, told: Set<Key>): void {
    told.add(key)
    // Far from full the order does not matter, and every boot comes by here.
    if (map.size > maximum / 2) map.delete(key)
    map.set(key, sight)
    if (map.size <= maximum) return
    const [oldest] = map.keys()
    if (oldest === undefined) return
    map.delete(oldest)
    told.add(oldest)
  }

  return {
    changed(id) {
      changed.add(id)
      // Where nobody asks for hours, they are not kept one by one.
      if (changed.size >= maximum) takeUp()
    },
    version() {
      takeUp()
      return version
    },
    takeChanged() {
      takeUp()
      const told = { hosts: changedHosts, macs: changedMacs }
      changedHosts = new Set()
      changedMacs = new Set()
      return told
    },
    ofHost(host) {
      takeUp()
      let last = byHost.get(host.id)
      if (last !== undefined && !isSightOf(host, last)) last = undefined
      for (const mac of host.macs) {
        const sight = byMac.get(mac)
        if (sight !== undefined && (last === undefined || sight.attempt > last.attempt)) last = sight
      }
      return last
    },
    ofCard(mac) {
      takeUp()
      return byMac.get(mac)
    },
    counts() {
      takeUp()
      const counts = { running: 0, waiting: 0, stuck: 0, over: 0 }
      const told = new Set<AttemptId>()
      for (const sights of [byHost, byMac]) {
        for (const { attempt, state } of sights.values()) {
          if (told.has(attempt)) continue
          told.add(attempt)
          if (state === 'running' || state === 'waiting' || state === 'stuck') counts[state] += 1
          else counts.over += 1
        }
      }
      return counts
    },
    cards() {
      takeUp()
      return byMac
    },
  }
}

function sightOf(attempt: BootAttempt, before: Sight | undefined): Sight {
  // A machine that boots from its disk was sent nothing, and still runs what it was sent before.
  const release = releaseOf(attempt) ?? before?.release
  return {
    attempt: attempt.id,
    host: attempt.host,
    mac: attempt.mac,
    state: machineStateOf(attempt),
    release,
    pattern: attempt.diagnosis?.code,
    seenAt: attempt.lastAt,
  }
}

/** A host that is recognised by its UUID or serial may ask with any card. */
function isSightOf({ macs, uuid, serial }: Host, { mac }: Sight): boolean {
  return mac === undefined || macs.includes(mac) || uuid !== undefined || serial !== undefined
}
