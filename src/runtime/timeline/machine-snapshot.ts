import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SeenMachine } from '../../core/fleet.ts'
import type { Inventory } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import { type MachineState, machineStates } from '../../http/admin/schemas/boots.ts'
import type { FactsOfHosts, HostFacts, HostList } from '../fleet/host-list.ts'
import { compareText, firstAfter } from '../fleet/page-of.ts'
import type { MachineIndex, Sight } from './machine-index.ts'
import { needsPerson } from './machine-state.ts'

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
  /** The same by state, before all others those that need a person. */
  readonly byNeed: readonly Machine[]
  /** How many need a person. */
  readonly needs: number
  /** What can be filtered by. */
  readonly releases: readonly string[]
  readonly groups: readonly string[]
  readonly streams: readonly string[]
}

/** Some 2 ms; boots are answered in between. */
const machinesPerSlice = 5_000
/** Of machines that no record knows, those that booted last: anybody can make them up. */
const mostStrangers = 10_000

/**
 * Made anew where something changed since it was asked for last, once for all who ask meanwhile: of a hundred thousand
 * machines only those whose boot moved are looked at again.
 */
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
  /** Of which hosts the rows are. */
  let rowsOf: FactsOfHosts | undefined
  let rows: Machine[] = []
  /** Last boots of cards that no record names. */
  let strangerSights = new Map<MacAddress, Sight>()
  let names: Pick<MachineSnapshot, 'groups' | 'streams'> = { groups: [], streams: [] }

  function rowOf(facts: HostFacts): Machine {
    const sight = index.ofHost(facts.host)
    return { key: facts.host.id, facts, sight, state: sight?.state ?? 'idle', seenAt: sight?.seenAt ?? 0 }
  }

  function isStranger(mac: MacAddress, { host }: Sight): boolean {
    const { hostsByMac, hostsById } = inventory()
    // A host that is recognised by its UUID or serial asks with any card.
    return !hostsByMac.has(mac) && (host === undefined || !hostsById.has(host))
  }

  /** The one that booted last is the last. */
  function keepStranger(mac: MacAddress, sight: Sight): void {
    strangerSights.delete(mac)
    strangerSights.set(mac, sight)
    if (strangerSights.size < 2 * mostStrangers) return
    for (const oldest of strangerSights.keys()) {
      if (strangerSights.size <= mostStrangers) return
      strangerSights.delete(oldest)
    }
  }

  async function lookAtAll(facts: FactsOfHosts): Promise<void> {
    index.takeChanged()
    const found: Machine[] = []
    for (const [place, host] of facts.entries()) {
      if (place % machinesPerSlice === machinesPerSlice - 1) await nextTurn()
      found.push(rowOf(host))
    }
    strangerSights = new Map()
    let seen = 0
    for (const [mac, sight] of index.cards()) {
      seen += 1
      if (seen % machinesPerSlice === 0) await nextTurn()
      if (isStranger(mac, sight)) keepStranger(mac, sight)
    }
    rows = found
    rowsOf = facts
    names = namesOf(facts)
  }

  async function lookAtChanged(facts: FactsOfHosts): Promise<void> {
    const changed = index.takeChanged()
    if (changed.isAny) return lookAtAll(facts)
    const lookAt = (id: string) => {
      const place = firstAfter(facts, id, ({ host }) => host.id) - 1
      const host = facts[place]
      if (host?.host.id === id) rows[place] = rowOf(host)
    }
    for (const id of changed.hosts) lookAt(id)
    for (const mac of changed.macs) {
      const host = inventory().hostsByMac.get(mac)
      const sight = index.ofCard(mac)
      if (host !== undefined) lookAt(host.id)
      if (sight !== undefined && isStranger(mac, sight)) keepStranger(mac, sight)
      else strangerSights.delete(mac)
    }
  }

  /** By MAC; those that asked and were told nothing are among them. */
  function strangersNow(seen: readonly SeenMachine[]): readonly Machine[] {
    const { hostsByMac } = inventory()
    const found = new Map<MacAddress, Machine>()
    for (const { mac, lastSeenAt } of seen) {
      if (!hostsByMac.has(mac)) found.set(mac, { key: mac, mac, state: 'idle', seenAt: lastSeenAt })
    }
    for (const [mac, sight] of strangerSights) {
      const seenAt = Math.max(sight.seenAt, found.get(mac)?.seenAt ?? 0)
      found.set(mac, { key: mac, mac, sight, state: sight.state, seenAt })
    }
    return [...found.values()].sort((a, b) => compareText(a.key, b.key))
  }

  async function renewed(): Promise<MachineSnapshot> {
    const [facts, seen] = await Promise.all([hosts.facts(), options.strangers()])
    const of = [facts, index.version(), seen.length, seen[0]?.lastSeenAt]
    if (made !== undefined && of.every((value, place) => value === made?.of[place])) return made.snapshot
    if (rowsOf === facts) await lookAtChanged(facts)
    else await lookAtAll(facts)
    const snapshot = { ...(await sorted([...rows, ...strangersNow(seen)])), ...names }
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

async function sorted(machines: readonly Machine[]): Promise<Omit<MachineSnapshot, 'groups' | 'streams'>> {
  const byState = Object.fromEntries(machineStates.map((state) => [state, []])) as unknown as Record<
    MachineState,
    Machine[]
  >
  const releases = new Set<string>()
  for (const [place, machine] of machines.entries()) {
    if (place % machinesPerSlice === machinesPerSlice - 1) await nextTurn()
    byState[machine.state].push(machine)
    if (machine.sight?.release !== undefined) releases.add(machine.sight.release)
  }
  const needy: Machine[] = []
  const others: Machine[] = []
  for (const state of machineStates) {
    await nextTurn()
    for (const machine of byState[state]) {
      if (needsPerson(state, machine.sight?.pattern)) needy.push(machine)
      else others.push(machine)
    }
  }
  return {
    machines,
    byState,
    byNeed: needy.concat(others),
    needs: needy.length,
    releases: [...releases].sort(compareText),
  }
}

/** Groups and streams change with the hosts alone. */
function namesOf(facts: FactsOfHosts): Pick<MachineSnapshot, 'groups' | 'streams'> {
  const groups = new Set<string>()
  const streams = new Set<string>()
  for (const host of facts) {
    for (const group of host.groups) groups.add(group)
    if (host.stream !== undefined) streams.add(host.stream)
  }
  return { groups: [...groups].sort(compareText), streams: [...streams].sort(compareText) }
}
