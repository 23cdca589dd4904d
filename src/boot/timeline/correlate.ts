import { attemptIdOf } from '../../core/boot-attempts/attempt-id.ts'
import { beginsAnew, canBegin } from '../../core/boot-attempts/begins-anew.ts'
import { reached } from '../../core/boot-attempts/journey.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { MacAddress } from '../../core/mac.ts'
import { createAddressBook } from './address-book.ts'
import type { AttemptShelf } from './attempt-shelf.ts'
import { createKeptAttempt, type KeptAttempt } from './kept-attempt.ts'
import { createMachines, type Machine, type Machines } from './machines.ts'
import { createStrangerBudget } from './stranger-budget.ts'
import { createUnnamedBoots } from './unnamed-boots.ts'

/** Two cards of one host that try to boot one after the other are one boot. */
const nextCardMs = 3 * 60_000

/** Finds the attempt that each event belongs to, and begins one where there is none. */
export interface Correlator {
  readonly machines: Pick<Machines, 'byMac' | 'byHost' | 'all'>
  /** `undefined`: it belongs to no boot. */
  find(event: BootEvent): KeptAttempt | undefined
  /** Attempts whose machine nobody knows yet. */
  unnamed(): Iterable<KeptAttempt>
  /** Of an earlier run of the service. */
  restore(attempt: KeptAttempt): void
  /** It leaves memory. */
  forget(attempt: KeptAttempt): void
}

export function createCorrelator({
  shelf,
  random,
  mostOfMachine,
  strangersPerSecond,
  onChange,
  onMerge,
}: {
  readonly shelf: Pick<AttemptShelf, 'add' | 'byBoot' | 'leave'>
  readonly random: () => number
  readonly mostOfMachine: number
  readonly strangersPerSecond: number
  readonly onChange: (attempt: KeptAttempt) => void
  /** Both are one boot: the first goes on with the events of the second. */
  readonly onMerge: (attempt: KeptAttempt, joined: KeptAttempt) => void
}): Correlator {
  const hostAddresses = createAddressBook()
  const strangerAddresses = createAddressBook()
  const strangers = createStrangerBudget(strangersPerSecond)
  const unnamed = createUnnamedBoots()
  const machines = createMachines({ onJoin: joinMachines })

  function forget(attempt: KeptAttempt): void {
    unnamed.drop(attempt)
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
    if (areOpen && Math.abs(one.lastAt - other.lastAt) <= nextCardMs) onMerge(one, other)
  }

  function mayBegin(event: BootEvent, host: string | undefined): boolean {
    return canBegin(event) && (host !== undefined || strangers.admits(event.at))
  }

  function begin({ at }: Pick<BootEvent, 'at'>, machine: Machine | undefined): KeptAttempt {
    const attempt = createKeptAttempt(attemptIdOf(at, random), at)
    attempt.host = machine?.host
    shelf.add(attempt)
    if (machine !== undefined) file(attempt, machine)
    return attempt
  }

  function file(attempt: KeptAttempt, machine: Machine): void {
    attempt.machine = machine
    // A list that grows has room for 17, and most machines have one boot.
    if (machine.attempts.length === 0) machine.attempts = [attempt]
    else machine.attempts.push(attempt)
    const tooMany = machine.attempts.length - mostOfMachine
    if (tooMany <= 0) return
    for (const old of machine.attempts.slice(0, tooMany)) shelf.leave(old)
  }

  function supersede(attempt: KeptAttempt, at: number): void {
    if (attempt.outcome !== undefined) return
    attempt.outcome = 'superseded'
    attempt.endedAt = Math.max(attempt.lastAt, at)
    onChange(attempt)
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

  /** The newest attempt of the machine, or the one that this event begins. */
  function newestOf(machine: Machine, event: BootEvent, mac: MacAddress): KeptAttempt | undefined {
    const newest = machine.attempts.at(-1)
    if (newest === undefined) return begin(event, machine)
    const isSure = saysCard(event)
    if (!isBeginning(newest, event, mac)) {
      const before = machine.attempts.at(-2)
      if (isSure && before !== undefined) supersede(before, newest.startedAt)
      return newest
    }
    if (!mayBegin(event, machine.host)) return undefined
    // By its address alone it may be another machine: the boot before ends when this one says its card.
    if (isSure) supersede(newest, event.at)
    return begin(event, machine)
  }

  /**
   * A genuine token of a boot that is not in memory: it was lost in a crash, or left long ago. Its word counts, and
   * changes nothing for a newer boot that goes on, before which it began.
   */
  function lateWord(event: BootEvent, machine: Machine): KeptAttempt {
    const newest = machine.attempts.at(-1)
    if (newest === undefined || newest.outcome !== undefined) return begin(event, machine)
    if (mayHaveLostDecision(newest)) return newest
    const attempt = begin({ at: newest.startedAt - 1 }, machine)
    machine.attempts = [attempt, ...machine.attempts.filter((other) => other !== attempt)]
    return attempt
  }

  function ofMachine(mac: MacAddress, event: BootEvent): KeptAttempt | undefined {
    const host = 'host' in event ? event.host : undefined
    const known = machines.byMac(mac) ?? (host === undefined ? undefined : machines.byHost(host))
    const address = 'address' in event ? event.address : undefined
    const before = address === undefined ? undefined : beganAt(address, mac, event)
    if (known === undefined && before === undefined && !mayBegin(event, host)) return undefined
    const machine = machines.machineOf(mac, host)
    if (before !== undefined) nameBoot(before, machine, event, mac)
    if (event.type === 'reported' || event.type === 'ignition-sent') return lateWord(event, machine)
    return newestOf(machine, event, mac)
  }

  /** What was fetched from this address before the machine said its card. */
  function beganAt(address: string, mac: MacAddress, event: BootEvent): KeptAttempt | undefined {
    const fresh = unnamed.freshAt(address, event.at)
    return fresh !== undefined || !saysCard(event) ? fresh : misjudgedAt(address, mac, event.at)
  }

  /**
   * A boot that was taken for one of the machine that had this address before, and is of the one that says its card now:
   * addresses are given to another machine, and several stand behind one (NAT).
   */
  function misjudgedAt(address: string, mac: MacAddress, at: number): KeptAttempt | undefined {
    const attempt = unnamed.takeGuess(address, at)
    if (attempt?.machine === undefined || attempt.machine === machines.byMac(mac)) return undefined
    forget(attempt)
    attempt.host = undefined
    return attempt
  }

  function nameBoot(attempt: KeptAttempt, machine: Machine, event: BootEvent, mac: MacAddress): void {
    unnamed.drop(attempt)
    if (attempt.outcome !== undefined) return
    const newest = machine.attempts.at(-1)
    if (newest !== undefined && newest.outcome === undefined && !isBeginning(newest, event, mac)) {
      onMerge(newest, attempt)
      return
    }
    if (newest !== undefined) supersede(newest, attempt.startedAt)
    file(attempt, machine)
  }

  function ofAddress(address: string, event: BootEvent): KeptAttempt | undefined {
    const newest = unnamed.at(address)
    if (newest !== undefined && !isBeginning(newest, event, undefined)) return newest
    if (!mayBegin(event, undefined)) return undefined
    if (newest !== undefined) supersede(newest, event.at)
    const attempt = begin(event, undefined)
    unnamed.put(address, attempt)
    return attempt
  }

  /** Nothing in the event says whose it is, only where it came from. */
  function atAddress(address: string, event: BootEvent): KeptAttempt | undefined {
    const mac = hostAddresses.macOf(address, event.at) ?? strangerAddresses.macOf(address, event.at)
    const newest = mac === undefined ? undefined : machines.byMac(mac)?.attempts.at(-1)
    if (namesUnknownBoot(event)) {
      // A boot whose decision was lost in a crash; of any other boot than the present one nothing is known here.
      return newest !== undefined && mayHaveLostDecision(newest) ? newest : undefined
    }
    if (mac === undefined) return ofAddress(address, event)
    // Whose it is, the answer to it tells: the script asks who the machine is, and the machine says its card.
    if (event.type === 'entry-sent' && newest !== undefined && isPastScript(newest)) {
      return ofAddress(address, event)
    }
    const attempt = ofMachine(mac, event)
    if (attempt !== undefined && attempt !== newest) unnamed.guess(address, attempt)
    return attempt
  }

  function learn(event: BootEvent): void {
    if (!('mac' in event) || event.mac === undefined) return
    if (!('address' in event) || event.address === undefined) return
    const { mac, address, at } = event
    const isHost = machines.byMac(mac)?.host !== undefined || ('host' in event && event.host !== undefined)
    // Where the other book has an older owner of it, that one has to be corrected.
    const book = isHost || hostAddresses.macOf(address, at) !== undefined ? hostAddresses : strangerAddresses
    book.saw(address, mac, at)
  }

  return {
    machines,
    find(event) {
      learn(event)
      if (event.type !== 'decided' && 'bootId' in event && event.bootId !== undefined) {
        const attempt = shelf.byBoot(event.bootId)
        if (attempt !== undefined) return attempt
      }
      if ('mac' in event && event.mac !== undefined) return ofMachine(event.mac, event)
      const address = 'address' in event ? event.address : undefined
      return address === undefined ? undefined : atAddress(address, event)
    },
    unnamed: () => unnamed.all(),
    restore(attempt) {
      if (attempt.mac === undefined) return
      const machine = machines.machineOf(attempt.mac, attempt.host)
      // Without a record of its host nothing says any more that they are one machine.
      if (machine.host !== undefined) {
        for (const mac of attempt.otherMacs ?? []) machines.machineOf(mac, machine.host)
      }
      file(attempt, machine)
      machine.attempts.sort((a, b) => a.startedAt - b.startedAt)
      if (attempt.outcome === undefined) for (const { event } of attempt.events) learn(event)
    },
    forget,
  }
}

function saysCard(event: BootEvent): boolean {
  return 'mac' in event && event.mac !== undefined
}

/** Who asks by the id of a boot that is not known says nothing of the boots that are; the ids are any text. */
function namesUnknownBoot(event: BootEvent): boolean {
  return event.type !== 'decided' && 'bootId' in event && event.bootId !== undefined
}

/** It goes on, and was told something that a crash of the service made us forget. */
function mayHaveLostDecision({ outcome, bootId, isRestored }: KeptAttempt): boolean {
  return outcome === undefined && (bootId === undefined || isRestored)
}

function isPastScript({ outcome, journey }: KeptAttempt): boolean {
  return outcome !== undefined || journey.level >= reached.script
}
