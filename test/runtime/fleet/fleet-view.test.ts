import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDecisionMemory } from '../../../src/boot/decision-memory.ts'
import {
  type FleetChange,
  type RunTimeSetting,
  runTimeSettingId,
  type StoredRecord,
} from '../../../src/core/fleet.ts'
import type { Inventory, InventoryParts } from '../../../src/core/host.ts'
import { armInstall } from '../../../src/core/install.ts'
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts'
import { makeBootimage } from '../../fakes/bootimages.ts'
import { makeCatalog } from '../../fakes/catalogs.ts'
import {
  mac,
  makeClient,
  makeGroup,
  makeHost,
  makeInventory,
  makeProfile,
  nodeMac,
} from '../../fakes/machines.ts'

const otherMac = mac('52:54:00:00:00:02')

function record(kind: StoredRecord['kind'], name: string, spec: StoredRecord['spec']): StoredRecord {
  const who = { createdAt: 1, createdBy: 'alice', changedAt: 2, changedBy: 'bob' }
  return { kind, name, spec, revision: 1, ...who }
}

const put = (kind: StoredRecord['kind'], name: string, spec: StoredRecord['spec']): FleetChange => ({
  put: 'record',
  record: record(kind, name, spec),
})
const set = (setting: RunTimeSetting): FleetChange => ({ put: 'setting', setting })
const stamp = { by: 'alice', at: 5 }
const nobodysState = { records: [], settings: [], installs: [], revocations: [] }

function viewOf(files: Partial<InventoryParts>, changes: readonly FleetChange[] = []): FleetView {
  const view = createFleetView()
  view.takeFiles(makeInventory(files))
  view.apply(changes)
  return view
}

describe('records of the API', () => {
  it('count beside those of files, and know who made them', () => {
    const view = viewOf({}, [
      put('profile', 'worker', { stream: 'fcos-stable', mode: 'live' }),
      put('group', 'edge', { match: { labels: { site: 'edge' } }, profile: 'worker' }),
      put('host', 'n01', { macs: ['52-54-00-AB-CD-EF'], labels: { site: 'edge' } }),
    ])
    const { hostsByMac, groups, profiles } = view.inventory()
    expect(hostsByMac.get(nodeMac)).toMatchObject({
      id: 'n01',
      origin: { kind: 'host', name: 'n01', by: 'bob', at: 2 },
    })
    expect(groups.map(({ name }) => name)).toEqual(['edge'])
    expect(profiles.get('worker')).toMatchObject({ stream: 'fcos-stable' })
    expect(view.conflicts()).toEqual([])
  })

  it('of a name that a file declares do not count, are told, and count when the file says no more of it', () => {
    const host = makeHost({ serial: 'of the file' })
    const view = viewOf({ hosts: [host], profiles: [makeProfile({ name: 'worker' })] }, [
      put('host', 'n01', { macs: ['52:54:00:00:00:02'], serial: 'of the API' }),
      put('profile', 'worker', { mode: 'live' }),
    ])
    expect(view.inventory().hostsById.get('n01')).toBe(host)
    expect(view.inventory().hostsByMac.has(otherMac)).toBe(false)
    expect(view.inventory().profiles.get('worker')?.mode).toBeUndefined()
    expect(view.conflicts()).toEqual([
      {
        kind: 'host',
        name: 'n01',
        text: 'is declared in hosts.d/rack1.yaml:3 as well, and what the file says counts',
      },
      {
        kind: 'profile',
        name: 'worker',
        text: 'is declared in pilotlight.yaml:10 as well, and what the file says counts',
      },
    ])
    view.takeFiles(makeInventory())
    expect(view.inventory().hostsById.get('n01')?.serial).toBe('of the API')
    expect(view.inventory().profiles.get('worker')?.mode).toBe('live')
    expect(view.conflicts()).toEqual([])
  })

  it('that claim a mark of a host in a file lose it, are told, and get it when that host goes', () => {
    const view = viewOf({ hosts: [makeHost()] }, [
      put('host', 'a', { macs: ['52:54:00:ab:cd:ef', '52:54:00:00:00:02'] }),
    ])
    expect(view.inventory().hostsByMac.get(nodeMac)?.id).toBe('n01')
    expect(view.inventory().hostsByMac.get(otherMac)?.id).toBe('a')
    expect(view.conflicts()).toEqual([
      {
        kind: 'host',
        name: 'a',
        text: 'does not have MAC 52:54:00:ab:cd:ef: it belongs to host n01 (hosts.d/rack1.yaml:3)',
      },
    ])
    expect(view.conflictsOf('a')).toHaveLength(1)
    view.takeFiles(makeInventory())
    expect(view.conflictsOf('a')).toEqual([])
    expect(view.inventory().hostsByMac.get(nodeMac)?.id).toBe('a')
  })

  it('that this version cannot read are told, and their machines are held', () => {
    const view = viewOf({}, [put('host', 'n01', { macs: ['52:54:00:ab:cd:ef'], colour: 'red' })])
    expect(view.inventory().hostsByMac.get(nodeMac)).toMatchObject({ id: 'n01', mode: 'hold' })
    expect(view.conflicts()).toMatchObject([
      { kind: 'host', name: 'n01', text: expect.stringContaining('colour: unknown key') },
    ])
    view.apply([{ remove: 'record', kind: 'host', name: 'n01' }])
    expect(view.conflicts()).toEqual([])
    expect(view.inventory().hostsById.size).toBe(0)
  })
})

describe('a change', () => {
  const catalog = makeCatalog({ current: makeBootimage() })
  const host = makeHost({ stream: 'fcos-stable', mode: 'live' })

  it('counts for the next decision, also where decisions are remembered (field case 151)', () => {
    const view = viewOf({ hosts: [host] })
    const memory = createDecisionMemory()
    const decide = () => memory.decide(makeClient(), { catalog, inventory: view.inventory(), now: 10 })
    const first = decide()
    expect(first.kind).toBe('live')
    expect(decide()).toBe(first)
    const target = { kind: 'host', name: 'n01' } as const
    view.apply([set({ kind: 'mode', mode: 'hold', target, ...stamp, reason: 'disk', until: 20 })])
    expect(decide().kind).toBe('hold')
    view.apply([{ remove: 'setting', id: runTimeSettingId({ kind: 'mode', target }) }])
    expect(decide().kind).toBe('live')
    view.apply([
      {
        put: 'install',
        install: armInstall(undefined, 1, { host: 'n01', by: 'alice', at: 9, device: '/dev/sda' }),
      },
    ])
    expect(decide().kind).toBe('install')
    view.apply([{ remove: 'install', host: 'n01' }])
    expect(decide().kind).toBe('live')
  })

  it('that ends is forgotten to the millisecond, a mode and an install like a pin', () => {
    const target = { kind: 'host', name: 'n01' } as const
    const limits = { host: 'n01', by: 'alice', at: 0, device: '/dev/sda', until: 30 }
    const view = viewOf({ hosts: [host] }, [
      set({ kind: 'mode', mode: 'hold', target, ...stamp, until: 20 }),
      { put: 'install', install: armInstall(undefined, 1, limits) },
    ])
    const memory = createDecisionMemory()
    const kindAt = (now: number) =>
      memory.decide(makeClient(), { catalog, inventory: view.inventory(), now }).kind
    expect([19, 20, 29, 30].map(kindAt)).toEqual(['hold', 'install', 'install', 'local'])
  })
})

describe('what was set for a host that goes', () => {
  const pin: RunTimeSetting = {
    kind: 'pin',
    target: { kind: 'host', name: 'n01' },
    release: '43.1',
    ...stamp,
    macs: [nodeMac],
  }

  it('stays with its MACs, and with the id that comes back (DESIGN §2)', () => {
    const view = viewOf({ hosts: [makeHost()] }, [set(pin)])
    expect(view.inventory().runTime.byMac.size).toBe(0)
    view.takeFiles(makeInventory({ hosts: [makeHost({ id: 'renamed' })] }))
    expect(
      view
        .inventory()
        .runTime.byMac.get(nodeMac)
        ?.map(({ setting }) => setting),
    ).toEqual([pin])
    view.takeFiles(makeInventory({ hosts: [makeHost({ macs: [otherMac] })] }))
    expect(view.inventory().runTime.byMac.size).toBe(0)
    expect(view.inventory().runTime.byHost.get('n01')).toHaveLength(1)
  })

  it('is the last word where two hosts had the MAC', () => {
    const other = { ...pin, target: { kind: 'host', name: 'n02' }, release: '44.1', at: 6 } as const
    const view = viewOf({}, [set(other), set(pin)])
    expect(
      view
        .inventory()
        .runTime.byMac.get(nodeMac)
        ?.map(({ setting }) => setting),
    ).toEqual([other, pin])
  })
})

describe('whatever happens in whatever order', () => {
  const names = ['n01', 'n02', 'n03'] as const
  const macs = [nodeMac, otherMac]
  const target = fc.oneof(
    fc.record({ kind: fc.constant('host' as const), name: fc.constantFrom(...names) }),
    fc.record({ kind: fc.constant('group' as const), name: fc.constantFrom('edge', 'rack') }),
  )
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const end = maybe(fc.constantFrom(10, 20, 30))
  const setting: fc.Arbitrary<RunTimeSetting> = fc.oneof(
    fc.record({
      kind: fc.constant('pin' as const),
      target,
      release: fc.constantFrom('43.1', '44.1'),
      arch: maybe(fc.constantFrom('x86_64' as const, 'aarch64' as const)),
      by: fc.constant('alice'),
      at: fc.nat(),
      until: end,
      macs: fc.subarray(macs),
    }),
    fc.record({
      kind: fc.constant('mode' as const),
      target,
      mode: fc.constantFrom('hold' as const, 'local' as const),
      by: fc.constant('alice'),
      at: fc.nat(),
      until: end,
      macs: fc.subarray(macs),
    }),
  )
  const spec = fc
    .tuple(fc.subarray(macs, { minLength: 1 }), maybe(fc.constantFrom('S1', 'S2')), end)
    .map(([some, serial, until]) => ({
      macs: some,
      ...(serial === undefined ? {} : { serial }),
      ...(until === undefined ? {} : { pin: { release: '43.1', until: new Date(until).toISOString() } }),
    }))
  const change: fc.Arbitrary<FleetChange> = fc.oneof(
    fc.tuple(fc.constantFrom(...names), spec).map(([name, said]) => put('host', name, said)),
    fc.constantFrom(...names).map((name) => ({ remove: 'record' as const, kind: 'host' as const, name })),
    fc
      .constantFrom('edge', 'rack')
      .map((name) => put('group', name, { match: { labels: { site: name } }, mode: 'live' })),
    fc
      .constantFrom('edge', 'rack')
      .map((name) => ({ remove: 'record' as const, kind: 'group' as const, name })),
    setting.map(set),
    setting.map((said) => ({ remove: 'setting' as const, id: runTimeSettingId(said) })),
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(10, 20)).map(([host, until]) => ({
      put: 'install' as const,
      install: armInstall(undefined, 1, { host, by: 'a', at: 0, until }),
    })),
    fc.constantFrom(...names).map((host) => ({ remove: 'install' as const, host })),
  )
  const filesSaid = fc.tuple(fc.subarray([...names]), fc.boolean()).map(([some, hasGroup]) =>
    makeInventory({
      hosts: some.slice(0, 2).map((id, index) => makeHost({ id, macs: macs.slice(index, index + 1) })),
      groups: hasGroup ? [makeGroup({ name: 'edge', labels: { site: 'edge' } })] : [],
    }),
  )
  const step = fc.oneof(
    { weight: 5, arbitrary: change.map((one) => ({ change: one })) },
    { weight: 1, arbitrary: filesSaid.map((files) => ({ files })) },
  )

  it('is the same as reading all of it anew', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const view = createFleetView()
        let files: Inventory = makeInventory()
        view.takeFiles(files)
        const kept = { records: new Map(), settings: new Map(), installs: new Map() }
        for (const taken of steps) {
          if ('files' in taken) {
            files = taken.files
            view.takeFiles(files)
            continue
          }
          view.apply([taken.change])
          keep(kept, taken.change)
        }
        const again = createFleetView()
        again.load({
          ...nobodysState,
          records: [...kept.records.values()],
          settings: [...kept.settings.values()],
          installs: [...kept.installs.values()],
        })
        again.takeFiles(files)
        expect(digest(view)).toEqual(digest(again))
      }),
      { numRuns: process.env.SOAK ? 20_000 : 500 },
    )
  })

  function keep(
    kept: { records: Map<string, unknown>; settings: Map<string, unknown>; installs: Map<string, unknown> },
    change: FleetChange,
  ): void {
    if ('put' in change) {
      if (change.put === 'record')
        kept.records.set(`${change.record.kind}/${change.record.name}`, change.record)
      if (change.put === 'setting') kept.settings.set(runTimeSettingId(change.setting), change.setting)
      if (change.put === 'install') kept.installs.set(change.install.host, change.install)
    } else if (change.remove === 'record') kept.records.delete(`${change.kind}/${change.name}`)
    else if (change.remove === 'setting') kept.settings.delete(change.id)
    else if (change.remove === 'install') kept.installs.delete(change.host)
  }

  /** Everything that anybody can ask it. */
  function digest(view: FleetView): unknown {
    const { runTime, groups, ...inventory } = view.inventory()
    const ids = (map: ReadonlyMap<string, { readonly id: string }>) =>
      Object.fromEntries([...map].map(([key, { id }]) => [key, id]))
    const layers = (map: Inventory['runTime']['byHost']) =>
      Object.fromEntries([...map].map(([key, list]) => [key, list.map(({ setting: said }) => said)]))
    return {
      byId: Object.fromEntries(inventory.hostsById),
      byMac: ids(inventory.hostsByMac),
      bySerial: ids(inventory.hostsBySerial),
      pinned: [...inventory.pinnedHosts].sort(),
      groups: groups.map(({ name, origin }) => [name, origin.file]),
      byHost: layers(runTime.byHost),
      byGroup: layers(runTime.byGroup),
      ofGone: layers(runTime.byMac),
      installs: Object.fromEntries(inventory.installs),
      ends: [0, 10, 15, 20, 29, 30].map((now) => inventory.nextEnd(now)),
      conflicts: [...view.conflicts()].sort((a, b) => (`${a.name}${a.text}` < `${b.name}${b.text}` ? -1 : 1)),
    }
  }
})
