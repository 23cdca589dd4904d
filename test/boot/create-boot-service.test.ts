import { describe, expect, it } from 'vitest'
import type { AddressGuard } from '../../src/boot/address-guard.ts'
import { createBootService } from '../../src/boot/create-boot-service.ts'
import { createLeases } from '../../src/boot/leases.ts'
import { createNewestBoots } from '../../src/boot/newest-boots.ts'
import type { WantedBootimage } from '../../src/core/boot-decision.ts'
import { type BootEvent, type BootId, parseBootId } from '../../src/core/boot-event.ts'
import type { Catalog } from '../../src/core/catalog.ts'
import type { Inventory } from '../../src/core/host.ts'
import { reason } from '../../src/core/reason.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog, status } from '../fakes/catalogs.ts'
import { mac, makeClient, makeHost, makeInventory } from '../fakes/machines.ts'

const older = makeBootimage({ release: '43.20260601.3.0' })
const newer = makeBootimage({ release: '44.20260707.3.1' })
const known = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live' })] })

interface State {
  catalog: Catalog
  inventory?: Inventory
  maximumLeases?: number
  guard?: AddressGuard
}

function setUp(state: State) {
  const events: BootEvent[] = []
  const wishes: WantedBootimage[] = []
  const served: (readonly [string, BootId])[] = []
  const newestBoots = createNewestBoots()
  const leases = createLeases({ maximum: state.maximumLeases })
  let now = 5000
  let drawn = 0
  const service = createBootService({
    catalog: { current: () => state.catalog },
    inventory: () => state.inventory ?? known,
    clock: { now: () => now },
    randomBytes: (size) => {
      const words = Uint32Array.from({ length: size / 4 }, () => (drawn += 1))
      return new Uint8Array(words.buffer)
    },
    leases,
    newestBoots,
    ...(state.guard === undefined ? {} : { guard: state.guard }),
    onEvent: (event) => events.push(event),
    onWanted: (wanted) => wishes.push(wanted),
    onInstallServed: (host, bootId) => served.push([host, bootId]),
  })
  return { service, leases, newestBoots, events, wishes, served, state, setNow: (at: number) => (now = at) }
}

describe('answering a machine', () => {
  it('G12 a machine that is sent to its disk ends its boot; one whom the guard refuses ends nothing', () => {
    const inventory = (mode: 'live' | 'local') =>
      makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode })] })
    const lab = setUp({ catalog: makeCatalog({ current: newer }), inventory: inventory('live') })
    lab.service.answer(makeClient())
    const hold = { kind: 'hold', method: 'exit', reasons: [reason('mode-hold')], arch: 'x86_64' } as const
    const refusing = setUp({
      catalog: makeCatalog({ current: newer }),
      guard: { admit: () => hold, look: () => hold, addressOf: () => undefined, goesOn() {}, restore() {} },
    })
    refusing.newestBoots.note({ bootId: lab.service.answer(makeClient()).bootId, host: 'n01', startedAt: 1 })
    refusing.service.answer(makeClient())
    expect(refusing.newestBoots.hasEnded({ host: 'n01' }, 1)).toBe(false)

    expect(lab.newestBoots.hasEnded({ host: 'n01' }, 5000)).toBe(false)
    lab.state.inventory = inventory('local')
    lab.service.answer(makeClient())
    expect(lab.newestBoots.hasEnded({ host: 'n01' }, 5000)).toBe(true)
  })

  it('mints a boot id, leases the bootimage and records one event', () => {
    const { service, leases, events } = setUp({ catalog: makeCatalog({ current: newer }) })
    const { decision, bootId } = service.answer(makeClient({ address: '192.0.2.55' }))
    expect(decision).toMatchObject({ kind: 'live', bootimage: newer })
    expect(parseBootId(bootId)).toBe(bootId)
    expect(leases.takeUnsaved()).toEqual([
      {
        bootId,
        host: 'n01',
        mac: '52:54:00:ab:cd:ef',
        address: '192.0.2.55',
        bootimage: newer.id,
        startedAt: 5000,
        lastSeenAt: 5000,
      },
    ])
    expect(events).toEqual([
      {
        type: 'decided',
        at: 5000,
        bootId,
        kind: 'live',
        reason: 'follows-current',
        reasons: decision.reasons,
        mac: '52:54:00:ab:cd:ef',
        arch: 'x86_64',
        firmware: 'uefi',
        host: 'n01',
        address: '192.0.2.55',
        bootimage: newer.id,
        loader: 'ipxe',
        expects: [],
        files: ['kernel', 'initramfs', 'rootfs'],
      },
    ])
  })

  it('says to which trace the question belongs', () => {
    const { service, events } = setUp({ catalog: makeCatalog({ current: newer }) })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    service.answer(makeClient(), trace)
    expect(events).toMatchObject([{ type: 'decided', trace }])
  })

  it('never gives the same boot id twice', () => {
    const { service } = setUp({ catalog: makeCatalog({ current: newer }) })
    const ids = Array.from({ length: 1000 }, () => service.answer(makeClient()).bootId)
    expect(new Set(ids).size).toBe(1000)
  })

  it('that waits asks for the bootimage each time, and leases nothing (G5)', () => {
    const { service, leases, wishes } = setUp({
      catalog: makeCatalog({ target: status(newer, 'queued') }),
    })
    service.answer(makeClient())
    service.answer(makeClient())
    const wanted = { stream: 'fcos-stable', arch: 'x86_64', release: newer.release }
    expect(wishes).toEqual([wanted, wanted])
    expect(leases.size).toBe(0)
  })

  it('G2 G6 a stream that moves mid-boot leaves the running boot its bootimage', () => {
    const { service, leases, state } = setUp({ catalog: makeCatalog({ current: older }) })
    const running = service.answer(makeClient())
    state.catalog = makeCatalog({ current: newer, releases: [status(older)] })
    const next = service.answer(makeClient())
    expect(running.decision).toMatchObject({ bootimage: older })
    expect(next.decision).toMatchObject({ bootimage: newer })
    expect(leases.leasedBootimages(5000)).toEqual(new Set([older.id, newer.id]))
  })

  it('takes a new inventory with the next answer (field case 151)', () => {
    const { service, state } = setUp({ catalog: makeCatalog({ current: newer }) })
    expect(service.answer(makeClient()).decision.kind).toBe('live')
    state.inventory = makeInventory({ hosts: [makeHost({ mode: 'hold' })] })
    expect(service.answer(makeClient()).decision.kind).toBe('hold')
  })

  it('tells of each install script that was answered, and of none that was only explained (field case 153)', () => {
    const host = makeHost({ stream: 'fcos-stable', mode: 'install', install: { device: '/dev/sda' } })
    const { service, served } = setUp({
      catalog: makeCatalog({ current: newer }),
      inventory: makeInventory({ hosts: [host] }),
    })
    expect(service.explain(makeClient()).kind).toBe('install')
    expect(served).toEqual([])
    const { decision, bootId } = service.answer(makeClient())
    expect(decision.kind).toBe('install')
    expect(served).toEqual([['n01', bootId]])
  })

  it('remembers the newest boot of a host that got a script to boot with', () => {
    const { service, newestBoots, state } = setUp({ catalog: makeCatalog({ current: newer }) })
    service.answer(makeClient())
    const { bootId } = service.answer(makeClient())
    expect(newestBoots.newestOf({ host: 'n01' })).toBe(bootId)
    state.inventory = makeInventory({ hosts: [makeHost({ mode: 'local' })] })
    service.answer(makeClient())
    expect(newestBoots.newestOf({ host: 'n01' })).toBe(bootId)
  })
})

describe('explaining', () => {
  it('decides the same and leaves no trace (G10)', () => {
    const { service, leases, events, wishes } = setUp({
      catalog: makeCatalog({ target: status(newer, 'queued') }),
    })
    const explained = service.explain(makeClient())
    expect([events, wishes, leases.takeUnsaved()]).toEqual([[], [], []])
    expect(explained).toEqual(service.answer(makeClient()).decision)
  })
})

describe('a transfer', () => {
  it('keeps the lease of its boot alive', () => {
    const { service, leases, setNow } = setUp({ catalog: makeCatalog({ current: newer }) })
    const { bootId } = service.answer(makeClient())
    leases.takeUnsaved()
    setNow(9000)
    service.touch(bootId)
    expect(leases.takeUnsaved()).toMatchObject([{ bootId, startedAt: 5000, lastSeenAt: 9000 }])
  })
})

describe('a flood of machines', () => {
  it('does not grow the leases past their bound', () => {
    const unknown = { kind: 'profile', profile: 'guest' } as const
    const origin = { kind: 'profile', name: 'guest' } as const
    const inventory = makeInventory({
      profiles: [{ name: 'guest', origin, stream: 'fcos-stable', mode: 'live' }],
      unknown,
    })
    const { service, leases } = setUp({
      catalog: makeCatalog({ current: newer }),
      inventory,
      maximumLeases: 100,
    })
    for (let index = 0; index < 1000; index += 1) {
      const address = mac(
        `52:54:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`,
      )
      expect(service.answer(makeClient({ macs: [address] })).decision.kind).toBe('live')
    }
    expect(leases.size).toBeLessThanOrEqual(100)
    expect(leases.leasedBootimages(5000)).toEqual(new Set([newer.id]))
  })
})
