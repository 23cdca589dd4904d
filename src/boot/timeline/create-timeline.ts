import type { AttemptRecord, BootAttempt } from '../../core/boot-attempt.ts'
import { appendEvent } from '../../core/boot-attempts/append-event.ts'
import { attemptIdOf } from '../../core/boot-attempts/attempt-id.ts'
import { beginsAnew, canBegin } from '../../core/boot-attempts/begins-anew.ts'
import { boundEvent } from '../../core/boot-attempts/bound-event.ts'
import { reached, travel } from '../../core/boot-attempts/journey.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { Clock } from '../../core/clock.ts'
import type { MacAddress } from '../../core/mac.ts'
import { createAddressBook } from './address-book.ts'
import { createAddressServers } from './address-servers.ts'
import { createAttemptShelf } from './attempt-shelf.ts'
import { createExaminer } from './examine.ts'
import { clipTimes, createKeptAttempt, type KeptAttempt, retrace } from './kept-attempt.ts'
import { createMachines, type Machine } from './machines.ts'
import { mergeAttempts } from './merge-attempts.ts'
import type { Timeline, TimelineListeners } from './timeline.ts'

export interface TimelineMaxima {
  /** Attempts in memory, heads included. */
  readonly attempts: number
  /** Of those, the ones that are over and still have all their events. */
  readonly ended: number
  /** Of one attempt. */
  readonly events: number
  /** Boots of one machine that are kept in memory. */
  readonly ofMachine: number
  /** Boots of machines that no record matches, which may be made up, that begin in one second. */
  readonly strangersPerSecond: number
}

/** 50,000 machines; some 100 MB when all of them boot at once. */
export const defaultTimelineMaxima: TimelineMaxima = {
  attempts: 60_000,
  ended: 5_000,
  events: 200,
  ofMachine: 12,
  strangersPerSecond: 2_000,
}

export interface TimelineOptions {
  readonly clock: Clock
  /** From 0 to 1 (exclusive); for the ids of attempts. */
  readonly random: () => number
  readonly listeners?: TimelineListeners
  readonly maxima?: Partial<TimelineMaxima>
}

/** A machine that nobody heard ask DHCP is known by its address until it names its card, within this time. */
const namesItselfMs = 5 * 60_000
/** Two cards of one host that try to boot one after the other are one boot. */
const nextCardMs = 3 * 60_000
/** `settle` comes a few times a second: a longer pause is a clock that jumped, or a process that was stopped. */
const longestPauseMs = 30_000
const clockJitterMs = 1_000
const mostAheadMs = 60_000
/** What only time changes is looked for once a second. */
const sweepEveryMs = 1_000
const mostHostsAtOnce = 2_000
const mostStrangersAtOnce = 500
const mostGuesses = 5_000

export function createTimeline(options: TimelineOptions): Timeline {
  const { clock, random, listeners = {} } = options
  const maxima = { ...defaultTimelineMaxima, ...options.maxima }
  const hostAddresses = createAddressBook()
  const strangerAddresses = createAddressBook()
  const addressServers = createAddressServers()
  /** Attempts of machines whose card nobody knows yet. */
  const byAddress = new Map<string, KeptAttempt>()
  /** Attempts that were begun for the machine that was seen last at an address, without its word for it. */
  const guesses = new Map<string, KeptAttempt>()
  const shelf = createAttemptShelf({
    mostAttempts: maxima.attempts,
    mostEnded: maxima.ended,
    onLeave: forget,
  })
  const machines = createMachines({ onJoin: joinMachines })
  const examiner = createExaminer({ shelf, addressServers, listeners, mostEvents: maxima.events })
  const changedHosts = new Set<KeptAttempt>()
  const changedStrangers = new Set<KeptAttempt>()
  let sweptAt = Number.NEGATIVE_INFINITY
  let strangersIn = 0
  let strangersBegun = 0
  let settledAt = clock.now()
  let hearingSince = settledAt

  function forget(attempt: KeptAttempt): void {
    changedHosts.delete(attempt)
    changedStrangers.delete(attempt)
    dropFromMachine(attempt)
  }

  function dropFromMachine(attempt: KeptAttempt): void {
    if (attempt.address !== undefined && byAddress.get(attempt.address) === attempt) {
      byAddress.delete(attempt.address)
    }
    const { machine } = attempt
    attempt.machine = undefined
    if (machine === undefined) return
    machine.attempts = machine.attempts.filter((other) => other !== attempt)
    if (machine.attempts.length === 0) machines.forget(machine)
  }

  function joinMachines(machine: Machine, joined: Machine): void {
    const [one, other] = [machine.attempts.at(-1), joined.attempts.at(-1)]
    for (const attempt of joined.attempts) attempt.machine = machine
    machine.attempts = [...machine.attempts, ...joined.attempts].sort((a, b) => a.startedAt - b.startedAt)
    joined.attempts = []
    if (one === undefined || other === undefined) return
    const areOpen = one.outcome === undefined && other.outcome === undefined
    if (areOpen && Math.abs(one.lastAt - other.lastAt) <= nextCardMs) merge(one, other)
  }

  /** Takes the events of `joined` into `attempt`, of which there is no other from then on. */
  function merge(attempt: KeptAttempt, joined: KeptAttempt): void {
    mergeAttempts(attempt, joined, maxima.events)
    for (const bootId of joined.bootIds) shelf.nameBoot(attempt, bootId)
    forget(joined)
    shelf.absorb(joined)
    touch(attempt)
  }

  function touch(attempt: KeptAttempt): void {
    attempt.reduced = undefined
    shelf.changed(attempt)
    if (attempt.isDirty) return
    attempt.isDirty = true
    const queue = attempt.host === undefined ? changedStrangers : changedHosts
    queue.add(attempt)
  }

  /** Whether there is room for one more machine that no record matches; a flood of those is not told one by one. */
  function admitsStranger(at: number): boolean {
    const second = Math.floor(at / 1000)
    if (second !== strangersIn) {
      strangersIn = second
      strangersBegun = 0
    }
    strangersBegun += 1
    return strangersBegun <= maxima.strangersPerSecond
  }

  function canBeginAt(event: BootEvent, host: string | undefined): boolean {
    return canBegin(event) && (host !== undefined || admitsStranger(event.at))
  }

  function begin(event: BootEvent, machine: Machine | undefined): KeptAttempt {
    const attempt = createKeptAttempt(attemptIdOf(event.at, random), event.at)
    attempt.host = machine?.host
    shelf.add(attempt)
    if (machine !== undefined) file(attempt, machine)
    return attempt
  }

  function file(attempt: KeptAttempt, machine: Machine): void {
    attempt.machine = machine
    machine.attempts.push(attempt)
    const tooMany = machine.attempts.length - maxima.ofMachine
    if (tooMany <= 0) return
    for (const old of machine.attempts.slice(0, tooMany)) shelf.leave(old)
  }

  function supersede(attempt: KeptAttempt, at: number): void {
    if (attempt.outcome !== undefined) return
    attempt.outcome = 'superseded'
    attempt.endedAt = Math.max(attempt.lastAt, at)
    touch(attempt)
  }

  /** The newest attempt of the machine, or the one that this event begins; `undefined`: the event belongs to none. */
  function newestOf(
    machine: Machine,
    event: BootEvent,
    mac: MacAddress | undefined,
  ): KeptAttempt | undefined {
    const newest = machine.attempts.at(-1)
    if (newest === undefined) return begin(event, machine)
    const isSure = 'mac' in event && event.mac !== undefined
    if (!isBeginning(newest, event, mac)) {
      const before = machine.attempts.at(-2)
      if (isSure && before !== undefined) supersede(before, newest.startedAt)
      return newest
    }
    if (!canBeginAt(event, machine.host)) return undefined
    // By its address alone it may be another machine: the boot before ends when this one says its card.
    if (isSure) supersede(newest, event.at)
    return begin(event, machine)
  }

  function isBeginning(newest: KeptAttempt, event: BootEvent, mac: MacAddress | undefined): boolean {
    const { journey, card } = newest
    const sentAway = journey.kind === 'local' || journey.kind === 'ignore' ? 'local' : undefined
    return beginsAnew(
      {
        journey,
        outcome: newest.outcome ?? sentAway,
        gapMs: Math.max(0, event.at - newest.lastAt),
        isOtherCard: card !== undefined && mac !== undefined && card !== mac,
      },
      event,
    )
  }

  /** A genuine token of a boot that is not in memory any more: its word counts, and changes nothing for a newer boot. */
  function lateWord(event: BootEvent, machine: Machine): KeptAttempt {
    const newer = machine.attempts.slice()
    const attempt = begin(event, machine)
    if (newer.length > 0) machine.attempts = [attempt, ...machine.attempts.filter((one) => one !== attempt)]
    return attempt
  }

  function ofMachine(mac: MacAddress, event: BootEvent): KeptAttempt | undefined {
    const host = 'host' in event ? event.host : undefined
    const known = machines.byMac(mac) ?? (host === undefined ? undefined : machines.byHost(host))
    const address = 'address' in event ? event.address : undefined
    const saysCard = 'mac' in event && event.mac !== undefined
    const unnamed =
      address === undefined
        ? undefined
        : (unnamedAt(address, event.at) ?? (saysCard ? misjudgedAt(address, mac, event.at) : undefined))
    if (known === undefined && unnamed === undefined && !canBeginAt(event, host)) return undefined
    const machine = machines.machineOf(mac, host)
    if (unnamed !== undefined) nameAttempt(unnamed, machine, event, mac)
    if (event.type === 'reported' || event.type === 'ignition-sent') {
      const newest = machine.attempts.at(-1)
      return newest?.bootId === undefined && newest?.outcome === undefined && newest !== undefined
        ? newest
        : lateWord(event, machine)
    }
    return newestOf(machine, event, mac)
  }

  function isPastScript({ outcome, journey }: KeptAttempt): boolean {
    return outcome !== undefined || journey.level >= reached.script
  }

  function guess(address: string, attempt: KeptAttempt): void {
    guesses.delete(address)
    guesses.set(address, attempt)
    const [oldest] = guesses.keys()
    if (guesses.size > mostGuesses && oldest !== undefined) guesses.delete(oldest)
  }

  /**
   * A boot that was taken for one of the machine that had this address before, and is of the one that says its card now:
   * addresses are given to another machine, and several stand behind one (NAT).
   */
  function misjudgedAt(address: string, mac: MacAddress, at: number): KeptAttempt | undefined {
    const attempt = guesses.get(address)
    if (attempt === undefined) return undefined
    guesses.delete(address)
    const isOpen = attempt.mac === undefined && attempt.outcome === undefined
    if (!isOpen || at - attempt.lastAt > namesItselfMs) return undefined
    if (attempt.machine === undefined || attempt.machine === machines.byMac(mac)) return undefined
    dropFromMachine(attempt)
    attempt.host = undefined
    return attempt
  }

  function unnamedAt(address: string, at: number): KeptAttempt | undefined {
    const attempt = byAddress.get(address)
    return attempt !== undefined && at - attempt.lastAt <= namesItselfMs ? attempt : undefined
  }

  /** What was fetched from this address before the machine named its card is the beginning of its boot. */
  function nameAttempt(unnamed: KeptAttempt, machine: Machine, event: BootEvent, mac: MacAddress): void {
    if (unnamed.address !== undefined) byAddress.delete(unnamed.address)
    unnamed.address = undefined
    if (unnamed.outcome !== undefined) return
    const newest = machine.attempts.at(-1)
    if (newest !== undefined && newest.outcome === undefined && !isBeginning(newest, event, mac)) {
      merge(newest, unnamed)
      return
    }
    if (newest !== undefined) supersede(newest, unnamed.startedAt)
    file(unnamed, machine)
  }

  function ofAddress(address: string, event: BootEvent): KeptAttempt | undefined {
    const newest = byAddress.get(address)
    if (newest !== undefined && !isBeginning(newest, event, undefined)) return newest
    if (!canBeginAt(event, undefined)) return undefined
    if (newest !== undefined) supersede(newest, event.at)
    const attempt = begin(event, undefined)
    attempt.address = address
    byAddress.set(address, attempt)
    return attempt
  }

  function find(event: BootEvent): KeptAttempt | undefined {
    if (event.type !== 'decided' && 'bootId' in event && event.bootId !== undefined) {
      const attempt = shelf.byBoot(event.bootId)
      if (attempt !== undefined) return attempt
    }
    const said = 'mac' in event ? event.mac : undefined
    const address = 'address' in event ? event.address : undefined
    if (said !== undefined) return ofMachine(said, event)
    if (address === undefined) return undefined
    const mac = hostAddresses.macOf(address, event.at) ?? strangerAddresses.macOf(address, event.at)
    if (mac === undefined) return ofAddress(address, event)
    const newest = machines.byMac(mac)?.attempts.at(-1)
    // Whose it is, the answer to it tells: the script asks who the machine is, and the machine says its card.
    if (event.type === 'entry-sent' && newest !== undefined && isPastScript(newest)) {
      return ofAddress(address, event)
    }
    const attempt = ofMachine(mac, event)
    if (attempt !== undefined && attempt !== newest) guess(address, attempt)
    return attempt
  }

  function learn(event: BootEvent): void {
    if (!('mac' in event) || event.mac === undefined) return
    if (event.type === 'dhcp-unanswered') addressServers.note(event)
    if (!('address' in event) || event.address === undefined) return
    const isHost =
      machines.byMac(event.mac)?.host !== undefined || ('host' in event && event.host !== undefined)
    // The other book may have an older owner of it.
    if (isHost) hostAddresses.saw(event.address, event.mac, event.at)
    else if (hostAddresses.macOf(event.address, event.at) === undefined) {
      strangerAddresses.saw(event.address, event.mac, event.at)
    } else hostAddresses.saw(event.address, event.mac, event.at)
  }

  function join(attempt: KeptAttempt, event: BootEvent): void {
    attempt.leftOut += appendEvent(attempt.events, event, maxima.events)
    travel(attempt.journey, event)
    // As the clock has it now, also when it was set back: what counts is how long ago it was.
    attempt.lastAt = event.at
    if ('mac' in event && event.mac !== undefined) {
      attempt.mac ??= event.mac
      if (event.type !== 'decided') attempt.card = event.mac
    }
    const host = attempt.machine?.host ?? ('host' in event ? event.host : undefined)
    if (host !== undefined && attempt.host !== host) {
      attempt.host = host
      shelf.promote(attempt)
    }
    if (event.type === 'decided') shelf.nameBoot(attempt, event.bootId)
    else if ((event.type === 'reported' || event.type === 'ignition-sent') && attempt.bootId === undefined) {
      shelf.nameBoot(attempt, event.bootId)
    }
    touch(attempt)
  }

  /** Hosts first: whoever makes up machines makes only those wait. */
  function settleChanged(now: number): void {
    settleSome(changedHosts, mostHostsAtOnce, now)
    settleSome(changedStrangers, mostStrangersAtOnce, now)
  }

  function settleSome(changed: Set<KeptAttempt>, most: number, now: number): void {
    let left = most
    for (const attempt of changed) {
      if (left === 0) return
      left -= 1
      changed.delete(attempt)
      attempt.isDirty = false
      examiner.settle(attempt, { now, hearingSince, isChanged: true })
    }
  }

  /** Whose time has come; so many that all of them would hold up the next packet are left for the next time. */
  function sweep(now: number, isForAll: boolean): void {
    sweptAt = now
    let left = mostHostsAtOnce
    for (const attempt of shelf.open()) {
      if (left === 0) return
      if (attempt.isDirty || (attempt.dueAt > now && !isForAll)) continue
      examiner.settle(attempt, { now, hearingSince, isChanged: false })
      left -= 1
    }
  }

  /** A time that is yet to come is from before the clock was set back. */
  function inTime(event: BootEvent): BootEvent {
    const now = clock.now()
    return event.at <= now + mostAheadMs ? event : { ...event, at: now }
  }

  function reduced(attempt: KeptAttempt): BootAttempt {
    attempt.reduced ??= examiner.look(attempt, { now: clock.now(), hearingSince })
    return attempt.reduced
  }

  return {
    note(said) {
      const event = boundEvent(inTime(said))
      learn(event)
      const attempt = find(event)
      if (attempt !== undefined) join(attempt, event)
    },
    settle(now) {
      const isBack = now < settledAt - clockJitterMs
      if (isBack || now > settledAt + longestPauseMs) hearingSince = now
      settledAt = now
      if (isBack) {
        for (const attempt of shelf.all()) if (attempt.lastAt > now) clipTimes(attempt, now)
      }
      settleChanged(now)
      if (isBack || now >= sweptAt + sweepEveryMs) sweep(now, isBack)
    },
    attempt(id) {
      const attempt = shelf.byId(id) ?? shelf.byBoot(id as never)
      return attempt === undefined ? undefined : reduced(attempt)
    },
    *newest() {
      for (const machine of machines.all()) {
        const newest = machine.attempts.at(-1)
        if (newest !== undefined) yield reduced(newest)
      }
      for (const attempt of byAddress.values()) yield reduced(attempt)
    },
    of({ host, macs = [] }) {
      const found = new Set<KeptAttempt>()
      if (host !== undefined) {
        for (const attempt of machines.byHost(host)?.attempts ?? []) found.add(attempt)
      }
      for (const mac of macs) for (const attempt of machines.byMac(mac)?.attempts ?? []) found.add(attempt)
      return [...found].sort(byNewest).map(reduced)
    },
    attempts: () => [...shelf.all()].sort(byNewest).map(reduced),
    takeUnsaved: (most) => shelf.takeUnsaved(most),
    returnUnsaved: (records) => shelf.returnUnsaved(records),
    restore(records, now) {
      hearingSince = now
      settledAt = now
      for (const record of [...records].sort((a, b) => a.startedAt - b.startedAt)) restoreOne(record, now)
    },
  }

  function restoreOne(record: AttemptRecord, now: number): void {
    if (shelf.byId(record.id) !== undefined) return
    const attempt = createKeptAttempt(record.id, record.startedAt)
    Object.assign(attempt, record, { events: record.events.slice() })
    if (record.lastAt > now || record.startedAt > now) clipTimes(attempt, now)
    attempt.wasSaved = true
    attempt.isRestored = true
    attempt.isOverTold = attempt.outcome !== undefined
    attempt.told = attempt.diagnosis === undefined ? [] : [attempt.diagnosis.code]
    retrace(attempt)
    shelf.add(attempt)
    for (const { event } of attempt.events)
      if (event.type === 'decided') shelf.nameBoot(attempt, event.bootId)
    if (record.bootId !== undefined && attempt.bootId === undefined) shelf.nameBoot(attempt, record.bootId)
    if (attempt.mac !== undefined) file(attempt, machines.machineOf(attempt.mac, attempt.host))
    if (attempt.outcome === undefined) {
      attempt.isDirty = true
      changedHosts.add(attempt)
    } else shelf.ended(attempt)
  }
}

function byNewest(a: KeptAttempt, b: KeptAttempt): number {
  return b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1)
}
