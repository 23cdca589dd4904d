import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SeenMachine } from '../../core/fleet.ts'
import type { Inventory } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import { type MachineState, machineStates } from '../../http/admin/schemas/boots.ts'
import type { FactsOfHosts, HostFacts, HostList } from '../fleet/host-list.ts'
import { compareText } from '../fleet/page-of.ts'
import type { MachineIndex, Sight } from './machine-index.ts'

/** A host, or a machine that no record knows. */
export interface Machine {
  /** Host id, else its MAC. */
  readonly key: string
  readonly state: MachineState
  /** Ms since the epoch; 0: never. */
  readonly seenAt: number
  readonly facts?: HostFacts
  readonly mac?: MacAddress
  readonly sight?: Sight
}

/** All machines as they were at one moment. */
export interface MachineSnapshot {
  /** Hosts by their ids, then the others by their MACs. */
  readonly machines: readonly Machine[]
  /** The same in each state, in the same order. */
  readonly byState: Readonly<Record<MachineState, readonly Machine[]>>
  /** What can be filtered by. */
  readonly releases: readonly string[]
  readonly groups: readonly string[]
  readonly streams: readonly string[]
}

/** Some 2 ms; boots are answered in between. */
const machinesPerSlice = 5_000

/** Made anew where something changed since it was asked for last, once for all who ask meanwhile. */
export function createMachineSnapshots(options: {
  readonly index: MachineIndex
  readonly hosts: Pick<HostList, 'facts'>
  readonly inventory: () => Pick<Inventory, 'hostsByMac' | 'hostsById'>
  /** Machines that asked and that no record matches. */
  readonly strangers: () => Promise<readonly SeenMachine[]> | readonly SeenMachine[]
}): { current(): Promise<MachineSnapshot> } {
  const { index, hosts, inventory } = options
  let made: { readonly of: readonly unknown[]; readonly snapshot: MachineSnapshot } | undefined
  let making: Promise<MachineSnapshot> | undefined
  let named: { readonly of: FactsOfHosts; readonly groups: string[]; readonly streams: string[] } | undefined

  /** Groups and streams change with the hosts alone. */
  function namesOf(facts: FactsOfHosts): { readonly groups: string[]; readonly streams: string[] } {
    if (named?.of === facts) return named
    const groups = new Set<string>()
    const streams = new Set<string>()
    for (const host of facts) {
      for (const group of host.groups) groups.add(group)
      if (host.stream !== undefined) streams.add(host.stream)
    }
    named = { of: facts, groups: [...groups].sort(compareText), streams: [...streams].sort(compareText) }
    return named
  }

  /** Of each machine without a host, by MAC. */
  function strangersNow(seen: readonly SeenMachine[]): readonly Machine[] {
    const { hostsByMac, hostsById } = inventory()
    const found = new Map<MacAddress, Machine>()
    for (const { mac, lastSeenAt } of seen) {
      if (!hostsByMac.has(mac)) found.set(mac, { key: mac, mac, state: 'idle', seenAt: lastSeenAt })
    }
    for (const [mac, sight] of index.cards()) {
      if (hostsByMac.has(mac)) continue
      // A host that is recognised by its UUID or serial.
      if (sight.host !== undefined && hostsById.has(sight.host)) continue
      const seenAt = Math.max(sight.seenAt, found.get(mac)?.seenAt ?? 0)
      found.set(mac, { key: mac, mac, sight, state: sight.state, seenAt })
    }
    return [...found.values()].sort((a, b) => compareText(a.key, b.key))
  }

  async function make(facts: FactsOfHosts, seen: readonly SeenMachine[]): Promise<MachineSnapshot> {
    const machines: Machine[] = []
    const byState = Object.fromEntries(machineStates.map((state) => [state, []])) as unknown as Record<
      MachineState,
      Machine[]
    >
    const releases = new Set<string>()
    const add = (machine: Machine) => {
      machines.push(machine)
      byState[machine.state].push(machine)
      if (machine.sight?.release !== undefined) releases.add(machine.sight.release)
    }
    for (const [place, host] of facts.entries()) {
      if (place % machinesPerSlice === machinesPerSlice - 1) await nextTurn()
      const sight = index.ofHost(host.host)
      const state = sight?.state ?? 'idle'
      add({ key: host.host.id, facts: host, sight, state, seenAt: sight?.seenAt ?? 0 })
    }
    for (const stranger of strangersNow(seen)) add(stranger)
    return { machines, byState, releases: [...releases].sort(compareText), ...namesOf(facts) }
  }

  async function renewed(): Promise<MachineSnapshot> {
    const [facts, seen] = await Promise.all([hosts.facts(), options.strangers()])
    const of = [facts, index.version(), seen.length, seen[0]?.lastSeenAt]
    if (made !== undefined && of.every((value, place) => value === made?.of[place])) return made.snapshot
    const snapshot = await make(facts, seen)
    made = { of, snapshot }
    return snapshot
  }

  return {
    current() {
      making ??= renewed().finally(() => {
        making = undefined
      })
      return making
    },
  }
}
