import { lastWords } from '../../boot/timeline/last-words.ts'
import type { BootGlance } from '../../boot/timeline/timeline.ts'
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
  takeChanged(): {
    readonly hosts: ReadonlySet<string>
    readonly macs: ReadonlySet<MacAddress>
    /** Too many to be named: any may have changed. */
    readonly isAny: boolean
  }
  ofHost(host: Host): Sight | undefined
  ofCard(mac: MacAddress): Sight | undefined
  /** How many machines are in which state. */
  counts(): Readonly<Record<AttemptState, number>>
  /** Of every card that booted, whoever's. */
  cards(): Iterable<readonly [MacAddress, Sight]>
}

/** Hosts whose last boot is remembered, and as many cards. */
const mostMachines = 131_072
/** Looked at together, some 1 ms, whether or not somebody asks: whoever asks must not wait for all of a hall. */
const mostWaiting = 1_000

/**
 * A machine is known by its MAC, so that a host which gets another name stays seen, and whoever gets the name next is
 * not.
 */
export function createMachineIndex({
  glance,
  attempt: find,
  maximum = mostMachines,
}: {
  readonly glance: (id: AttemptId) => BootGlance | undefined
  /** Of one that nobody has looked at yet. */
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
  /** Nobody has asked yet. */
  let isAnyChanged = true
  /** Room is made for many at once: finding the first entry of a Map costs as much as entries have left before it. */
  const roomFor = Math.ceil(maximum / 16)

  function takeUp(): void {
    if (changed.size === 0) return
    version += 1
    for (const id of changed) {
      const attempt = glance(id)
      if (attempt === undefined) continue
      const { host, mac, otherMacs = [] } = attempt
      const before = (host === undefined ? undefined : byHost.get(host)) ?? (mac && byMac.get(mac))
      // A boot of the past that is told of late changes nothing now.
      if (before !== undefined && before.attempt > id) continue
      const sight = sightOf(attempt, attempt.state ?? find(id)?.state ?? 'running', before)
      if (host !== undefined) keepLast(byHost, host, sight, changedHosts)
      if (mac !== undefined) keepLast(byMac, mac, sight, changedMacs)
      for (const other of otherMacs) keepLast(byMac, other, sight, changedMacs)
    }
    changed.clear()
  }

  function keepLast<Key>(map: Map<Key, Sight>, key: Key, sight: Sight, told: Set<Key>): void {
    tell(key, told)
    // Far from full the order does not matter, and every boot comes by here.
    if (map.size > maximum / 2) map.delete(key)
    map.set(key, sight)
    if (map.size <= maximum) return
    for (const oldest of map.keys()) {
      if (map.size <= maximum - roomFor) return
      map.delete(oldest)
      tell(oldest, told)
    }
  }

  function tell<Key>(key: Key, told: Set<Key>): void {
    if (isAnyChanged) return
    told.add(key)
    if (told.size <= maximum) return
    isAnyChanged = true
    changedHosts = new Set()
    changedMacs = new Set()
  }

  return {
    changed(id) {
      changed.add(id)
      if (changed.size >= mostWaiting) takeUp()
    },
    version() {
      takeUp()
      return version
    },
    takeChanged() {
      takeUp()
      const told = { hosts: changedHosts, macs: changedMacs, isAny: isAnyChanged }
      isAnyChanged = false
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
      const count = ({ state }: Sight) => {
        if (state === 'running' || state === 'waiting' || state === 'stuck') counts[state] += 1
        else counts.over += 1
      }
      for (const sight of byHost.values()) count(sight)
      // A card of a host counts with its host.
      for (const sight of byMac.values()) if (sight.host === undefined) count(sight)
      return counts
    },
    cards() {
      takeUp()
      return byMac
    },
  }
}

function sightOf(attempt: BootGlance, looked: AttemptState, before: Sight | undefined): Sight {
  const { outcome, diagnosis } = attempt
  const { decided, reported } = lastWords(attempt.events)
  const state = diagnosis !== undefined && looked === 'running' ? 'stuck' : looked
  // A machine that boots from its disk was sent nothing, and still runs what it was sent before.
  const release =
    releaseOf({
      decision: decided ?? {},
      ...(reported?.osVersion !== undefined && { osVersion: reported.osVersion }),
    }) ?? before?.release
  return {
    attempt: attempt.id,
    host: attempt.host,
    mac: attempt.mac,
    state: machineStateOf({ state, outcome, kind: decided?.kind, isTroubled: diagnosis !== undefined }),
    release,
    pattern: diagnosis?.code,
    seenAt: attempt.lastAt,
  }
}

/** A host that is recognised by its UUID or serial may ask with any card. */
function isSightOf({ macs, uuid, serial }: Host, { mac }: Sight): boolean {
  return mac === undefined || macs.includes(mac) || uuid !== undefined || serial !== undefined
}
