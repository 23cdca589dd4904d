import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Arch } from '../../core/arch.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { FleetChange } from '../../core/fleet.ts'
import type { BootMode, Host, Inventory, Pin } from '../../core/host.ts'
import { compareText, firstAfter } from './page-of.ts'

/** What hosts are listed by. */
export interface HostFacts {
  /** For which they were found: records of the same id may be replaced. */
  readonly host: Host
  readonly groups: readonly string[]
  readonly profile?: string
  readonly stream?: string
  readonly mode?: BootMode
  /** In force for one of its architectures; the very objects of the inventory. */
  readonly pins: readonly Pin[]
}

/** Hosts in order and what they are found by, kept from list to list: a hundred thousand take half a second to find. */
export interface HostList {
  /** By code units; the same array until a host comes or goes. */
  ids(): readonly string[]
  /** Of every host; found anew, in slices between which boots are answered, where something changed. */
  facts(): Promise<ReadonlyMap<string, HostFacts>>
  /** Everything that is written at hosts and can be searched for, in lower case. */
  textOf(host: Host): string
  note(changes: readonly FleetChange[]): void
  /** Files or everything was read anew. */
  forget(): void
}

/** Some 5 ms. */
const hostsPerSlice = 1_000
/** More that come or go at once are sorted anew. */
const mostOneByOne = 20
/** Where groups change faster than a list can be made, the one of a moment ago is good enough. */
const mostBeginnings = 3

export function createHostList(options: {
  readonly inventory: () => Inventory
  readonly architecturesOf: (stream: string) => readonly Arch[]
  readonly now: () => number
}): HostList {
  const { inventory, architecturesOf, now } = options
  let known = new Map<string, HostFacts>()
  const texts = new WeakMap<Host, string>()
  let sorted: readonly string[] | undefined
  let validUntil = 0
  let validFrom = 0
  /** Grows with each change that may touch any host, so that a slice that began before it does not count. */
  let edition = 0

  function forgetFacts(): void {
    // Whoever has the old ones goes on with them.
    known = new Map()
    edition += 1
  }

  function factsOf(host: Host): HostFacts {
    const query = { inventory: inventory(), host, firmware: 'unknown', now: now() } as const
    const first = effectiveSettings({ ...query, arch: host.arch })
    const pins = new Set<Pin>()
    const arches = host.arch === undefined ? architecturesOf(first.stream?.value ?? '') : [host.arch]
    for (const arch of arches) {
      const pin = (arch === host.arch ? first : effectiveSettings({ ...query, arch })).pin?.value
      if (pin !== undefined) pins.add(pin)
    }
    if (arches.length === 0 && first.pin !== undefined) pins.add(first.pin.value)
    return {
      host,
      groups: first.groups.map(({ name }) => name),
      profile: first.profile?.value,
      stream: first.stream?.value,
      mode: first.mode?.value,
      pins: [...pins],
    }
  }

  function ids(): readonly string[] {
    const { hostsById } = inventory()
    if (sorted === undefined || sorted.length !== hostsById.size) {
      sorted = [...hostsById.keys()].sort(compareText)
    }
    return sorted
  }

  function comeOrGo(id: string, isOneOfMany: boolean): void {
    // What was said of a host that has gone stays with its MACs, whoever has them next.
    if (inventory().runTime.byMac.size > 0) forgetFacts()
    if (isOneOfMany) sorted = undefined
    if (sorted === undefined) return
    const isThere = inventory().hostsById.has(id)
    const place = firstAfter(sorted, id, (text) => text)
    const wasThere = sorted[place - 1] === id
    if (isThere && !wasThere) sorted = sorted.toSpliced(place, 0, id)
    if (!isThere && wasThere) sorted = sorted.toSpliced(place - 1, 1)
  }

  return {
    ids,
    async facts() {
      for (let beginning = 1; ; beginning += 1) {
        const at = now()
        if (at >= validUntil || at < validFrom) {
          forgetFacts()
          validFrom = at
          validUntil = inventory().nextEnd(at)
        }
        const begun = edition
        let found = 0
        for (const id of ids()) {
          const host = inventory().hostsById.get(id)
          if (host === undefined || known.get(id)?.host === host) continue
          known.set(id, factsOf(host))
          found += 1
          if (found % hostsPerSlice !== 0) continue
          await nextTurn()
          if (edition !== begun && beginning < mostBeginnings) break
        }
        if (edition === begun || beginning >= mostBeginnings) return known
      }
    },
    textOf(host) {
      const text = texts.get(host)
      if (text !== undefined) return text
      const { id, macs, serial, hostName } = host
      const made = [id, ...macs, serial ?? '', hostName ?? ''].join('\n').toLowerCase()
      texts.set(host, made)
      return made
    },
    note(changes) {
      for (const change of changes) {
        const host = hostOf(change)
        if (host === undefined) continue
        if (host === 'any') forgetFacts()
        else known.delete(host)
        if (isComingOrGoing(change)) comeOrGo(host, changes.length > mostOneByOne)
      }
      // Whatever changed may end before anything did.
      validUntil = Math.min(validUntil, inventory().nextEnd(now()))
    },
    forget() {
      sorted = undefined
      forgetFacts()
    },
  }
}

/** Whose facts a change touches; `any`: those of whoever a group or profile is for. */
function hostOf(change: FleetChange): string | 'any' | undefined {
  if ('put' in change) {
    switch (change.put) {
      case 'record':
        return change.record.kind === 'host' ? change.record.name : 'any'
      case 'setting':
        return change.setting.target.kind === 'host' ? change.setting.target.name : 'any'
      case 'install':
        return change.install.host
      default:
        return undefined
    }
  }
  switch (change.remove) {
    case 'record':
      return change.kind === 'host' ? change.name : 'any'
    case 'setting': {
      const [, kind, name] = change.id.split('/')
      return kind === 'host' ? name : 'any'
    }
    case 'install':
      return change.host
    default:
      return undefined
  }
}

function isComingOrGoing(change: FleetChange): boolean {
  return 'put' in change
    ? change.put === 'record' && change.record.kind === 'host'
    : change.remove === 'record' && change.kind === 'host'
}
