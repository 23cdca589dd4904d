import type { BootEvent } from '../core/boot-event.ts'
import type { SeenMachine } from '../core/fleet.ts'
import type { MacAddress } from '../core/mac.ts'

/** What a machine that no record matches said, and was told. */
export type Sighting = Omit<SeenMachine, 'firstSeenAt' | 'lastSeenAt' | 'count'> & {
  /** Ms since the epoch. */
  readonly at: number
}

/** Machines that no record matches, in memory, and the batches that a writer takes to the store. */
export interface Strangers {
  saw(sighting: Sighting): void
  lastSeenAt(mac: MacAddress): number | undefined
  /** Last seen first. */
  list(): readonly SeenMachine[]
  /** They are somebody's now. */
  forget(macs: readonly MacAddress[]): void
  /** Those that said something since the last call, at most `maximum`; the others stay for the next call. */
  takeUnsaved(maximum: number): readonly SeenMachine[]
  /** After a batch could not be saved. */
  returnUnsaved(machines: readonly SeenMachine[]): void
  restore(machines: readonly SeenMachine[]): void
}

/** Some 300 bytes each. */
const mostStrangers = 10_000
/** DHCP, loader and script of one boot follow each other within it, and count once. */
const sameBootMs = 60_000
const sameMomentMs = 1_000

/** A flood of made-up machines cannot grow it without end: those that were silent for longest leave first. */
export function createStrangers({ maximum = mostStrangers }: { readonly maximum?: number } = {}): Strangers {
  /** The longest silent first. */
  const machines = new Map<MacAddress, SeenMachine>()
  const countedAt = new Map<MacAddress, number>()
  const unsaved = new Set<MacAddress>()
  /** Room is made for many at once: finding the oldest entry of a Map costs as much as entries have left before it. */
  const roomFor = Math.ceil(maximum / 16)

  function forget(mac: MacAddress): void {
    machines.delete(mac)
    countedAt.delete(mac)
    unsaved.delete(mac)
  }

  function makeRoom(): void {
    if (machines.size < maximum) return
    for (const mac of machines.keys()) {
      if (machines.size <= maximum - roomFor) return
      forget(mac)
    }
  }

  return {
    saw({ at, ...said }) {
      const { mac } = said
      const before = machines.get(mac)
      if (before === undefined) makeRoom()
      else if (isSameAgain(before, at, said)) return
      const isNewBoot = at - (countedAt.get(mac) ?? Number.NEGATIVE_INFINITY) >= sameBootMs
      if (isNewBoot) countedAt.set(mac, at)
      machines.delete(mac)
      machines.set(mac, {
        ...before,
        ...whatIsSaid(said),
        mac,
        firstSeenAt: before?.firstSeenAt ?? at,
        lastSeenAt: at,
        count: (before?.count ?? 0) + Number(isNewBoot),
      })
      unsaved.add(mac)
    },
    lastSeenAt: (mac) => machines.get(mac)?.lastSeenAt,
    list: () => [...machines.values()].reverse(),
    forget: (macs) => macs.forEach(forget),
    takeUnsaved(most) {
      const batch: SeenMachine[] = []
      for (const mac of unsaved) {
        if (batch.length >= most) break
        unsaved.delete(mac)
        const machine = machines.get(mac)
        if (machine !== undefined) batch.push(machine)
      }
      return batch
    },
    returnUnsaved(batch) {
      for (const { mac } of batch) if (machines.has(mac)) unsaved.add(mac)
    },
    restore(saved) {
      const begun = [...machines.values()]
      for (const machine of saved.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt)) {
        if (machines.has(machine.mac)) continue
        makeRoom()
        machines.set(machine.mac, machine)
      }
      for (const machine of begun) {
        machines.delete(machine.mac)
        machines.set(machine.mac, machine)
      }
    },
  }
}

/** The same once more within the second: a machine that asks without end costs a comparison. */
function isSameAgain(before: SeenMachine, at: number, said: Omit<Sighting, 'at'>): boolean {
  return (
    Math.abs(at - before.lastSeenAt) < sameMomentMs &&
    (said.decision ?? before.decision) === before.decision &&
    (said.address ?? before.address) === before.address &&
    (said.uuid ?? before.uuid) === before.uuid &&
    (said.serial ?? before.serial) === before.serial &&
    (said.arch ?? before.arch) === before.arch &&
    (said.firmware ?? before.firmware) === before.firmware
  )
}

/** What was not said this time stays as it was said before. */
function whatIsSaid<Said extends object>(said: Said): Partial<Said> {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) as Partial<Said>
}

/** What a boot step tells of a machine that no record matches. */
export function strangerIn(event: BootEvent): Sighting | undefined {
  if (event.type === 'decided') {
    const { mac, host, at, uuid, serial, arch, firmware, address, kind } = event
    if (host !== undefined || mac === undefined) return undefined
    return { mac, at, uuid, serial, arch, firmware, address, decision: kind }
  }
  if (event.type !== 'dhcp-answered' || event.host !== undefined || event.mac === undefined) return undefined
  const { mac, at, address, decision } = event
  return { mac, at, address, decision }
}
