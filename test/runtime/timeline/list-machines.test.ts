import { describe, expect, it } from 'vitest'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import type { MachineQuery } from '../../../src/http/admin/schemas/boots.ts'
import { makeGroup, makeHost, makeInventory, makeProfile } from '../../fakes/machines.ts'
import { makeMac, makeSeen, t0 } from '../../fakes/stored-fleet.ts'
import { bootOf, openTimelineLab, type TimelineLab } from '../../fakes/timeline-lab.ts'

const second = 1_000
const minute = 60 * second

const hosts = ['idle', 'booted', 'failed', 'running', 'held', 'waiting'].map((id, number) =>
  makeHost({
    id,
    macs: [makeMac(number)],
    labels: number % 2 === 0 ? { site: 'edge' } : {},
    serial: `SN-${number}`,
    profile: 'worker',
    ...(id === 'booted' && { pins: [{ release: '44.1' }] }),
  }),
)
const inventory = makeInventory({
  hosts,
  groups: [makeGroup({ name: 'edge', labels: { site: 'edge' } })],
  profiles: [makeProfile({ name: 'worker', stream: 'fcos-stable', mode: 'live' })],
})

async function mixedLab(): Promise<TimelineLab> {
  const lab = await openTimelineLab({ inventory })
  const of = (number: number) => bootOf(number, { host: hosts[number]?.id ?? '' })
  lab.note(of(1).decided(t0), of(1).reported(t0 + 1), of(2).decided(t0 + 2), of(2).reported(t0 + 3, 'failed'))
  lab.note(of(3).decided(t0 + 4), of(3).sent('kernel', t0 + 5), of(3).progress(t0 + 6, 500))
  lab.note(of(4).decided(t0 + 7, { kind: 'hold', bootimage: undefined }))
  lab.note(of(5).decided(t0 + 8, { kind: 'wait', bootimage: undefined }))
  lab.note(bootOf(20).decided(t0 + 9))
  lab.strangers = [makeSeen(21, { lastSeenAt: t0 - minute }), makeSeen(1)]
  await lab.wait(300)
  return lab
}

const keys = async (lab: TimelineLab, query: MachineQuery = {}) =>
  (await lab.boots.listMachines(query)).items.map(({ key }) => key)

describe('the list of machines', () => {
  it('has a row for each host and each unknown machine; what needs a person comes first', async () => {
    const lab = await mixedLab()
    const { items, total, counts, needs } = await lab.boots.listMachines({})
    expect(items.map(({ key, state }) => [key, state])).toEqual([
      ['failed', 'failed'],
      ['held', 'held'],
      ['running', 'running'],
      [makeMac(20), 'running'],
      ['waiting', 'waiting'],
      ['booted', 'booted'],
      ['idle', 'idle'],
      [makeMac(21), 'idle'],
    ])
    expect(total).toBe(8)
    expect(needs).toBe(2)
    expect(counts).toEqual({
      stuck: 0,
      failed: 1,
      running: 2,
      waiting: 1,
      held: 1,
      booted: 1,
      installed: 0,
      served: 0,
      local: 0,
      idle: 2,
    })
  })

  it('a machine whose boot is over and shows a pattern needs a person too', async () => {
    const lab = await mixedLab()
    const other = bootOf(6, { host: 'other' })
    lab.inventory = makeInventory({ hosts: [...hosts, makeHost({ id: 'other', macs: [makeMac(6)] })] })
    lab.note(other.decided(t0 + 10), {
      ...other.reported(t0 + 11),
      osVersion: '41.20240101.3.0',
    } as BootEvent)
    await lab.wait(300)
    const { items, needs } = await lab.boots.listMachines({})
    expect(needs).toBe(3)
    expect(items.slice(0, 3).map(({ key, state }) => [key, state])).toEqual([
      ['failed', 'failed'],
      ['held', 'held'],
      ['other', 'booted'],
    ])
    expect(items[2]?.diagnosis?.code).toBe('reports-another-release')
    expect((await lab.boots.listMachines({ state: 'failed', limit: 1 })).needs).toBe(3)
  })

  it('tells where each is, what it follows and what it runs', async () => {
    const lab = await mixedLab()
    const { items, releases, groups, streams } = await lab.boots.listMachines({ sort: 'host' })
    const row = (key: string) => items.find((item) => item.key === key)
    expect(row('running')).toMatchObject({
      host: 'running',
      mac: makeMac(3),
      phase: 'initramfs',
      transfer: { role: 'initramfs', percent: 50 },
      stream: 'fcos-stable',
      mode: 'live',
      profile: 'worker',
      groups: [],
      release: '44.20261101.3.0',
      lastSeenAt: new Date(t0 + 6).toISOString(),
    })
    expect(row('booted')?.pin).toEqual({ release: '44.1', origin: 'host booted (hosts.d/rack1.yaml:3)' })
    expect(row('failed')?.groups).toEqual(['edge'])
    expect(row('idle')).toMatchObject({ mac: makeMac(0), state: 'idle', flags: [] })
    expect(row('idle')?.lastSeenAt).toBeUndefined()
    expect(row(makeMac(20))).toMatchObject({ mac: makeMac(20), groups: [], release: '44.20261101.3.0' })
    expect(row(makeMac(21))?.lastSeenAt).toBe(new Date(t0 - minute).toISOString())
    expect({ releases, groups, streams }).toEqual({
      releases: ['44.20261101.3.0'],
      groups: ['edge'],
      streams: ['fcos-stable'],
    })
  })

  it.each([
    [{ state: 'failed' }, ['failed']],
    [{ state: 'stuck' }, []],
    [{ group: 'edge', sort: 'host' }, ['failed', 'held', 'idle']],
    [{ stream: 'none' }, []],
    [{ stream: 'fcos-stable', state: 'idle' }, ['idle']],
    [{ release: '44.20261101.3.0', state: 'running' }, ['running', makeMac(20)]],
    [{ search: 'SN-4' }, ['held']],
    [{ search: '52-54-00-00-00-02' }, ['failed']],
    [{ search: ':00:14' }, [makeMac(20)]],
    [{ search: 'OOT' }, ['booted']],
    [{ search: '  ', state: 'booted' }, ['booted']],
    [{ keys: ['idle', makeMac(21), 'nobody'] }, ['idle', makeMac(21)]],
    [{ sort: 'host', limit: 2 }, ['booted', 'failed']],
    [{ sort: 'host', limit: 3, page: 3 }, [makeMac(20), makeMac(21)]],
    [{ page: 9 }, []],
  ] satisfies [MachineQuery, string[]][])('%j finds %j', async (query, expected) => {
    expect(await keys(await mixedLab(), query)).toEqual(expected)
  })

  it('is sorted by who was seen last', async () => {
    const lab = await mixedLab()
    expect((await keys(lab, { sort: 'seen' })).slice(0, 3)).toEqual([makeMac(20), 'waiting', 'held'])
  })

  it('counts are of all machines, totals of those that match', async () => {
    const { total, counts } = await (await mixedLab()).boots.listMachines({ state: 'failed', limit: 1 })
    expect(total).toBe(1)
    expect(counts.running).toBe(2)
  })

  it('a machine that becomes a host is one row, and one whose host goes is a machine again', async () => {
    const lab = await mixedLab()
    lab.inventory = makeInventory({ hosts: [...hosts, makeHost({ id: 'new', macs: [makeMac(20)] })] })
    expect((await lab.boots.listMachines({ keys: ['new', makeMac(20)] })).items).toMatchObject([
      { key: 'new', state: 'running' },
    ])
    lab.inventory = makeInventory({ hosts: hosts.slice(0, 3) })
    expect(await keys(lab, { state: 'running' })).toEqual([makeMac(3), makeMac(20)])
  })

  it('whoever gets the name of another host has not booted', async () => {
    const lab = await mixedLab()
    lab.inventory = makeInventory({ hosts: [makeHost({ id: 'booted', macs: [makeMac(50)] })] })
    expect((await lab.boots.listMachines({ keys: ['booted'] })).items).toMatchObject([{ state: 'idle' }])
    // A host that is recognised by its UUID or serial may ask with any card.
    const bySerial = makeHost({ id: 'booted', macs: [makeMac(50)], serial: 'S1' })
    lab.inventory = makeInventory({ hosts: [bySerial] })
    expect((await lab.boots.listMachines({ keys: ['booted'] })).items).toMatchObject([{ state: 'booted' }])
  })

  it('a machine that boots from its disk still runs what it was sent', async () => {
    const lab = await mixedLab()
    const again = bootOf(1, { host: 'booted' })
    await lab.wait(30 * minute)
    lab.note(again.decided(lab.time.now(), { kind: 'local', bootimage: undefined }))
    await lab.wait(300)
    expect((await lab.boots.listMachines({ keys: ['booted'] })).items).toMatchObject([
      { state: 'local', release: '44.20261101.3.0' },
    ])
  })

  it('one that goes silent is stuck, shows its pattern, and is told of at its host', async () => {
    const lab = await mixedLab()
    await lab.wait(20 * minute)
    const { items } = await lab.boots.listMachines({ keys: ['running'] })
    expect(items).toMatchObject([{ state: 'stuck' }])
    const { diagnosis } = items[0] ?? {}
    expect(diagnosis?.remedy).not.toBe('')
    const shown = (await lab.boots.listPatterns()).filter(({ count }) => count > 0)
    expect(shown.flatMap(({ machines }) => machines)).toContain('running')
    const { text, remedy } = diagnosis ?? {}
    expect(shown.flatMap(({ diagnoses }) => diagnoses)).toContainEqual({ machine: 'running', text, remedy })
    const [flag] = lab.seen.flagsOf('running')
    expect(flag).toContain(diagnosis?.text)
  })

  it('is the same after a restart', async () => {
    const lab = await mixedLab()
    await lab.wait(2 * second)
    const before = await lab.boots.listMachines({})
    await lab.crash()
    const after = await lab.boots.listMachines({})
    expect(after.items.map(({ key, state, release }) => [key, state, release])).toEqual(
      before.items.map(({ key, state, release }) => [key, state, release]),
    )
  })
})

describe('a flood of machines that no record knows', () => {
  it('leaves those that booted last on the list, and every host', async () => {
    const lab = await openTimelineLab({ inventory })
    lab.note(bootOf(3, { host: 'running' }).decided(t0))
    for (let number = 100; number < 25_100; number += 1) {
      lab.note(bootOf(number % 250, { mac: makeMac(number) }).decided(t0 + number))
    }
    await lab.wait(60 * second)
    const { total, items } = await lab.boots.listMachines({ sort: 'seen', limit: 1 })
    expect(total).toBeLessThanOrEqual(hosts.length + 20_000)
    expect(items).toMatchObject([{ mac: makeMac(25_099) }])
    expect((await lab.boots.listMachines({ search: 'running' })).items).toMatchObject([{ key: 'running' }])
  })
})
