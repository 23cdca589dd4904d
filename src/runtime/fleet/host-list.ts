import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Arch } from '../../core/arch.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { FleetChange, InstallRecord } from '../../core/fleet.ts'
import type { BootMode, Host, Inventory, Pin } from '../../core/host.ts'
import { holderOf } from '../../core/machine-marks.ts'
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
  /** Everything that is written at it and can be searched for, in lower case. */
  readonly text: string
}

/** Of every host, by id. */
export type FactsOfHosts = readonly HostFacts[]

/** Hosts in order and what they are found by, kept from list to list: a hundred thousand take half a second to find. */
export interface HostList {
  /** By code units; the same array until a host comes or goes. */
  ids(): readonly string[]
  /** Found anew, in slices between which boots are answered, where something changed. */
  facts(): Promise<FactsOfHosts>
  note(changes: readonly FleetChange[]): void
}

/** Some 5 ms. */
const hostsPerSlice = 500
/** Where more change at once, all are looked at anew. */
const mostOneByOne = 20
/** Where groups change faster than a list can be made, the one of a moment ago is good enough. */
const mostBeginnings = 10

export function createHostList(options: {
  readonly inventory: () => Inventory
  readonly architecturesOf: (stream: string) => readonly Arch[]
  readonly now: () => number
}): HostList {
  const { inventory, now } = options
  /** Files and whole states come as other maps. */
  let of = inventory().hostsById
  /** `undefined`: something came or went, and all are sorted anew. */
  let sorted: readonly string[] | undefined
  /** Of each of them, where it was found since something changed. */
  let rows: (HostFacts | undefined)[] = []
  /** All of them, as long as nothing changes. */
  let whole: FactsOfHosts | undefined
  let validUntil = 0
  let validFrom = 0

  function forgetFacts(): void {
    rows = []
    whole = undefined
  }

  function forgetAll(): void {
    sorted = undefined
    forgetFacts()
  }

  /** Whoever reads files or the whole state anew need not tell. */
  function forgetReplaced(): void {
    const { hostsById } = inventory()
    if (hostsById === of) return
    of = hostsById
    forgetAll()
    validUntil = 0
  }

  function ids(): readonly string[] {
    forgetReplaced()
    sorted ??= [...inventory().hostsById.keys()].sort(compareText)
    return sorted
  }

  function forgetEnded(): void {
    const at = now()
    if (at < validUntil && at >= validFrom) return
    forgetFacts()
    validFrom = at
    validUntil = inventory().nextEnd(at)
  }

  /** Finds what is missing. @returns whether nothing changed meanwhile that takes another look */
  async function findMissing(): Promise<boolean> {
    const all = ids()
    const found = rows
    let count = 0
    for (const [place, id] of all.entries()) {
      const host = inventory().hostsById.get(id)
      if (host === undefined || found[place] !== undefined) continue
      found[place] = factsOf(host, inventory(), options.architecturesOf, now())
      count += 1
      if (count % hostsPerSlice !== 0) continue
      await nextTurn()
      forgetReplaced()
      if (rows !== found || sorted !== all) return false
    }
    return true
  }

  function forgetOne(id: string): void {
    whole = undefined
    const place = sorted === undefined ? -1 : placeOf(sorted, id)
    if (place >= 0) rows[place] = undefined
  }

  /** What is said of installing a machine goes with it, whatever the name of its host is. */
  function forgetMachine({ marks = [] }: Pick<InstallRecord, 'marks'> = {}): void {
    for (const mark of marks) {
      const holder = holderOf(mark, inventory())
      if (holder !== undefined) forgetOne(holder.id)
    }
  }

  function comeOrGo(id: string): void {
    forgetOne(id)
    forgetMachine(inventory().installs.get(id))
    // What was said of a host that has gone stays with its MACs, whoever has them next.
    if (inventory().runTime.byMac.size > 0) forgetFacts()
    if (sorted === undefined) return
    const isThere = inventory().hostsById.has(id)
    const before = placeOf(sorted, id)
    if (isThere && before < 0) {
      const place = firstAfter(sorted, id, String)
      sorted = sorted.toSpliced(place, 0, id)
      if (place < rows.length) rows.splice(place, 0, undefined)
    }
    if (!isThere && before >= 0) {
      sorted = sorted.toSpliced(before, 1)
      rows.splice(before, 1)
    }
  }

  return {
    ids,
    async facts() {
      for (let beginning = 1; ; beginning += 1) {
        forgetReplaced()
        forgetEnded()
        if (whole !== undefined) return whole
        const isWhole = await findMissing()
        if (!isWhole && beginning < mostBeginnings) continue
        const found = rows.filter((row) => row !== undefined)
        if (isWhole) whole = found
        return found
      }
    },
    note(changes) {
      forgetReplaced()
      if (changes.length > mostOneByOne) forgetAll()
      for (const change of changes) {
        const host = hostOf(change)
        if (host === undefined) continue
        if (host === 'any') forgetFacts()
        else if (isComingOrGoing(change)) comeOrGo(host)
        else forgetOne(host)
        if ('put' in change && change.put === 'install') forgetMachine(change.install)
      }
      // Whatever changed may end before anything did.
      validUntil = Math.min(validUntil, inventory().nextEnd(now()))
    },
  }
}

/** The facts of one host. */
export function factsOfHost(facts: FactsOfHosts, id: string): HostFacts | undefined {
  const place = firstAfter(facts, id, ({ host }) => host.id) - 1
  const row = facts[place]
  return row?.host.id === id ? row : undefined
}

function placeOf(sorted: readonly string[], id: string): number {
  const place = firstAfter(sorted, id, String) - 1
  return sorted[place] === id ? place : -1
}

function factsOf(
  host: Host,
  inventory: Inventory,
  architecturesOf: (stream: string) => readonly Arch[],
  now: number,
): HostFacts {
  const query = { inventory, host, firmware: 'unknown', now } as const
  const guessed = host.arch ?? 'x86_64'
  const first = effectiveSettings({ ...query, arch: guessed })
  const arches = host.arch === undefined ? architecturesOf(first.stream?.value ?? '') : [host.arch]
  const pins = new Set<Pin>()
  for (const arch of arches.length === 0 ? [guessed] : arches) {
    const pin = (arch === guessed ? first : effectiveSettings({ ...query, arch })).pin?.value
    if (pin !== undefined) pins.add(pin)
  }
  const { id, macs, serial, hostName } = host
  return {
    host,
    groups: first.groups.map(({ name }) => name),
    profile: first.profile?.value,
    stream: first.stream?.value,
    mode: first.mode?.value,
    pins: [...pins],
    text: [id, ...macs, serial ?? '', hostName ?? ''].join('\n').toLowerCase(),
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
