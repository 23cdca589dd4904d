import { afterEach, describe, expect, it } from 'vitest'
import type { FleetChange } from '../../../src/core/fleet.ts'
import type { MacAddress } from '../../../src/core/mac.ts'
import type { FleetOperations } from '../../../src/http/admin/fleet-operations.ts'
import { byTester, type FleetLab, openFleetLab } from '../../fakes/fleet-lab.ts'

const fileHost = { id: 'of-file', macs: ['52:54:00:00:00:01'], profile: 'worker', labels: { site: 'edge' } }
const spec = (digit: string) => ({ macs: [`52:54:00:00:00:0${digit}`], profile: 'worker' })
const target = { kind: 'host', name: 'n1' } as const

let lab: FleetLab
afterEach(() => lab.close())

async function open(options: Parameters<typeof openFleetLab>[0] = {}): Promise<FleetOperations> {
  lab = await openFleetLab({ hosts: [fileHost], ...options })
  return lab.fleet.operations
}

/** A bootimage that some document named, so that it can be pinned. */
async function know(release: string, arch: 'x86_64' | 'aarch64' = 'x86_64'): Promise<void> {
  const file = (role: 'kernel' | 'initramfs' | 'rootfs') =>
    ({
      role,
      name: role,
      sha256: '0'.repeat(64),
      location: `https://builds.example/${release}/${role}`,
    }) as never
  await lab.engine.storage.ledger.addBootimage({
    bootimage: {
      id: `sample/${arch}/${release}/0000000000000000` as never,
      stream: 'sample',
      arch,
      release,
      kind: 'live',
      setDigest: '1'.repeat(64) as never,
      kernel: file('kernel'),
      initramfs: file('initramfs'),
      rootfs: file('rootfs'),
      disks: [],
    },
    document: '2'.repeat(64) as never,
    state: 'known',
    firstSeenAt: 1,
  })
  lab.engine.publish()
}

describe('records of hosts', () => {
  it('carry a revision that each change raises, and that no record had before, also over a removal and a restart', async () => {
    const fleet = await open()
    const first = await fleet.putHost('n1', { spec: spec('2') }, { ...byTester, ifRevision: 0 })
    const second = await fleet.putHost('n1', { spec: { ...spec('2'), arch: 'x86_64' } }, byTester)
    expect(second.revision).toBeGreaterThan(first.revision ?? 0)
    for (const ifRevision of [0, first.revision]) {
      const put = fleet.putHost('n1', { spec: spec('3') }, { ...byTester, ifRevision })
      await expect(put).rejects.toMatchObject({ code: 'REVISION_DIFFERS' })
    }
    await fleet.removeHost('n1', { ...byTester, ifRevision: second.revision })
    await lab.reopen()
    const again = await lab.fleet.operations.putHost('n1', { spec: spec('2') }, byTester)
    expect(again.revision).toBeGreaterThan(second.revision ?? 0)
  })

  it('that are put as they were change nothing and leave no trace', async () => {
    const fleet = await open()
    const { revision } = await fleet.putHost('n1', { spec: spec('2') }, byTester)
    expect((await fleet.putHost('n1', { spec: spec('2') }, byTester)).revision).toBe(revision)
    expect((await fleet.listAudit({})).total).toBe(1)
  })

  it('that are removed leave their pins behind, listed without a host, and end an install that was armed', async () => {
    const fleet = await open()
    await know('44.1')
    await fleet.putHost('n1', { spec: spec('2') }, byTester)
    await fleet.setPin({ target, release: '44.1' }, byTester)
    await fleet.armInstall({ host: 'n1', device: '/dev/sda' }, byTester)
    await fleet.removeHost('n1', byTester)
    expect((await fleet.listPins({})).items).toMatchObject([{ release: '44.1', isOrphan: true, hosts: 0 }])
    expect(await fleet.listInstalls()).toMatchObject([{ host: 'n1', state: 'disarmed' }])
    // Whoever has the MAC now is still pinned.
    const heir = await fleet.putHost('n2', { spec: spec('2') }, byTester)
    expect(heir.values.find(({ field }) => field === 'pin')?.value).toBe('44.1')
    await fleet.removePin({ target }, byTester)
    expect((await fleet.listPins({})).total).toBe(0)
  })

  it('are found by what they are and have, page by page', async () => {
    const fleet = await open()
    for (const digit of ['2', '3', '4']) {
      await fleet.putHost(
        `n${digit}`,
        { spec: { ...spec(digit), labels: { site: 'edge', rack: digit } } },
        byTester,
      )
    }
    await fleet.setMode({ target: { kind: 'host', name: 'n3' }, mode: 'hold' }, byTester)
    const ids = async (query: Parameters<FleetOperations['listHosts']>[0]) =>
      (await fleet.listHosts(query)).items.map(({ id }) => id)
    expect(await ids({})).toEqual(['n2', 'n3', 'n4', 'of-file'])
    expect(await ids({ source: 'file' })).toEqual(['of-file'])
    expect(await ids({ label: 'rack=3' })).toEqual(['n3'])
    expect(await ids({ group: 'edge' })).toEqual(['n2', 'n3', 'n4', 'of-file'])
    expect(await ids({ mode: 'hold' })).toEqual(['n3'])
    expect(await ids({ stream: 'sample', search: '5254.0000.0004' })).toEqual(['n4'])
    for (const part of ['525400000004', '00000004', '00-00-04', '00:04', '0000.0004', '000004']) {
      expect(await ids({ search: part }), part).toEqual(['n4'])
    }
    expect(await ids({ search: '04' })).toEqual(['n4'])
    expect(await ids({ search: '525400' })).toEqual(await ids({ search: '52:54:00' }))
    const page = await fleet.listHosts({ limit: 2 })
    expect(page).toMatchObject({ total: 4, next: 'n3' })
    expect(await ids({ limit: 2, after: page.next })).toEqual(['n4', 'of-file'])
    await fleet.releaseMode({ target: { kind: 'host', name: 'n3' } }, byTester)
    expect(await ids({ mode: 'hold' })).toEqual([])
  })

  it('a machine that was seen becomes a host, and is no stranger any more', async () => {
    const fleet = await open()
    const mac = '52:54:00:00:00:07' as MacAddress
    lab.seen.push({ mac, firstSeenAt: 1, lastSeenAt: 2, count: 3, arch: 'aarch64', serial: 'S7' })
    expect((await fleet.listSeen({})).items).toMatchObject([{ mac, count: 3 }])
    await fleet.adoptHost(
      { mac: '52-54-00-00-00-07', spec: { profile: 'worker' } },
      { ...byTester, dryRun: true },
    )
    expect(lab.seen).toHaveLength(1)
    const host = await fleet.adoptHost({ mac, id: 'n7', spec: { macs: ['52:54:00:00:00:08'] } }, byTester)
    expect(host).toMatchObject({ id: 'n7', macs: [mac, '52:54:00:00:00:08'], arch: 'aarch64', serial: 'S7' })
    expect(lab.seen).toEqual([])
    await expect(fleet.adoptHost({ mac }, byTester)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(fleet.adoptHost({ mac: '52:54:00:00:00:09' }, byTester)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('a machine that was seen and becomes a host', () => {
  const mac = '52:54:00:00:00:07' as MacAddress
  const groups = { groups: { edge: { match: { labels: { site: 'edge' } }, profile: 'idle' } } }
  const profiles = { worker: { stream: 'sample', mode: 'live' }, idle: { mode: 'local' } }

  async function adopt(spec: Record<string, unknown>, config: object = { unknown: { profile: 'worker' } }) {
    const fleet = await open({ hosts: [], config: { ...groups, profiles, ...config } })
    lab.seen.push({ mac, firstSeenAt: 1, lastSeenAt: Date.UTC(2026, 9, 30), count: 3 })
    return fleet.adoptHost({ mac, id: 'n7', spec }, byTester)
  }

  it.each([
    ['that of unknown machines', {}, 'worker'],
    ['its own', { profile: 'idle' }, 'idle'],
    ['that of its group', { labels: { site: 'edge' } }, 'idle'],
  ])('goes on with a profile: %s', async (_, spec, profile) => {
    expect(await adopt(spec)).toMatchObject({ profile, spec: profile === 'idle' ? spec : { profile } })
  })

  it('has none where unknown machines have none', async () => {
    expect(await adopt({}, {})).toMatchObject({ decision: 'hold', reason: expect.stringContaining('mode') })
  })

  it('was seen when it was seen', async () => {
    const at = '2026-10-30T00:00:00.000Z'
    expect(await adopt({})).toMatchObject({ lastSeenAt: at })
    expect((await lab.fleet.operations.listHosts({})).items).toMatchObject([{ id: 'n7', lastSeenAt: at }])
  })
})

describe('groups and profiles', () => {
  it('of files are read, of the API changed; a profile that somebody has stays', async () => {
    const fleet = await open()
    await expect(fleet.putRecord('profile', 'worker', { spec: {} }, byTester)).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    const made = await fleet.putRecord(
      'profile',
      'rescue',
      { spec: { stream: 'sample', mode: 'live' } },
      byTester,
    )
    expect(made).toMatchObject({ source: 'api', hosts: 0 })
    const group = { spec: { match: { labels: { rack: '1' } }, profile: 'rescue' } }
    await fleet.putRecord('group', 'rack1', group, byTester)
    await expect(fleet.removeRecord('profile', 'rescue', byTester)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('group rack1'),
    })
    await fleet.putHost('n1', { spec: { macs: spec('2').macs, labels: { rack: '1' } } }, byTester)
    expect((await fleet.listRecords('profile')).map(({ name, hosts }) => [name, hosts])).toEqual([
      ['rescue', 1],
      ['worker', 1],
    ])
    await fleet.removeRecord('group', 'rack1', byTester)
    await fleet.removeRecord('profile', 'rescue', byTester)
    expect((await fleet.listRecords('profile')).map(({ name }) => name)).toEqual(['worker'])
  })
})

describe('G5 pins', () => {
  it('of a group count for all of its hosts but those that are pinned themselves, and end when they are over', async () => {
    const fleet = await open()
    await know('44.1')
    await know('44.2')
    for (const digit of ['2', '3']) {
      await fleet.putHost(
        `n${digit}`,
        { spec: { ...spec(digit), arch: 'x86_64', labels: { site: 'edge' } } },
        byTester,
      )
    }
    const edge = { kind: 'group', name: 'edge' } as const
    await fleet.setPin({ target: { kind: 'host', name: 'n3' }, release: '44.2' }, byTester)
    const set = await fleet.setPin({ target: edge, release: '44.1', until: '1h' }, byTester)
    expect(set).toMatchObject({ hosts: 2, isExpired: false })
    // The host of the file may be either.
    expect(set.files.map(({ arch, state }) => [arch, state])).toEqual([
      ['x86_64', 'queued'],
      ['aarch64', 'queued'],
    ])
    expect((await fleet.listPins({ group: 'edge' })).items).toMatchObject([{ hosts: 2 }])
    await lab.time.advance(3_600_000)
    expect((await fleet.listPins({ group: 'edge' })).items).toMatchObject([{ hosts: 0, isExpired: true }])
  })

  it('are refused for an architecture that the host has not, that is not followed, and for a release that it has not', async () => {
    const fleet = await open()
    await know('44.1')
    await fleet.putHost('n1', { spec: { ...spec('2'), arch: 'aarch64' } }, byTester)
    const wrong = [
      [{ target, release: '44.1', arch: 'x86_64' }, 'USAGE', 'arch'],
      [{ target: { kind: 'host', name: 'n9' }, release: '44.1' }, 'NOT_FOUND', 'host'],
      [{ target, release: '44.1', stream: 'sampel' }, 'NOT_FOUND', 'stream'],
      [{ target, release: 'no release!' }, 'USAGE', 'release'],
      [{ target, release: 'current' }, 'USAGE', 'release'],
      [{ target, release: '44.1', until: 'yesterday' }, 'USAGE', 'until'],
      [{ target, release: '44.1', until: '2025-01-01' }, 'USAGE', 'until'],
      [{ target: { kind: 'group', name: 'egde' }, release: '44.1' }, 'NOT_FOUND', 'group'],
    ] as const
    for (const [body, code, field] of wrong) {
      await expect(fleet.setPin(body, byTester)).rejects.toMatchObject({ code, details: { field } })
    }
    expect((await fleet.listPins({})).total).toBe(0)
  })

  it('of files are listed with their place, and are not removed here', async () => {
    const fleet = await open({ hosts: [{ ...fileHost, pin: { release: '44.1', reason: 'as in Git' } }] })
    expect((await fleet.listPins({})).items).toMatchObject([
      { release: '44.1', isRunTime: false, origin: expect.stringMatching(/hosts\.yaml:3/), hosts: 1 },
    ])
    const removed = fleet.removePin({ target: { kind: 'host', name: 'of-file' } }, byTester)
    await expect(removed).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/hosts\.yaml:3/),
    })
  })
})

describe('every change', () => {
  const changes: readonly (readonly [
    string,
    (fleet: FleetOperations, dryRun: boolean) => Promise<unknown>,
  ])[] = [
    ['putHost', (fleet, dryRun) => fleet.putHost('n1', { spec: spec('5') }, { ...byTester, dryRun })],
    ['removeHost', (fleet, dryRun) => fleet.removeHost('n0', { ...byTester, dryRun })],
    [
      'putRecord',
      (fleet, dryRun) =>
        fleet.putRecord('profile', 'p', { spec: { mode: 'local' } }, { ...byTester, dryRun }),
    ],
    [
      'setPin',
      (fleet, dryRun) =>
        fleet.setPin({ target: { kind: 'host', name: 'n0' }, release: '44.1' }, { ...byTester, dryRun }),
    ],
    [
      'setMode',
      (fleet, dryRun) =>
        fleet.setMode({ target: { kind: 'host', name: 'n0' }, mode: 'hold' }, { ...byTester, dryRun }),
    ],
    [
      'armInstall',
      (fleet, dryRun) => fleet.armInstall({ host: 'n0', device: '/dev/sda' }, { ...byTester, dryRun }),
    ],
    [
      'createToken',
      (fleet, dryRun) => fleet.createToken({ name: 't', role: 'read' }, { ...byTester, dryRun }),
    ],
    [
      'importRecords',
      (fleet, dryRun) =>
        fleet.importRecords(
          { text: 'version: 1\nhosts: [{ id: n8, serial: S8 }]\n', name: 'x', mode: 'replace' },
          { ...byTester, dryRun },
        ),
    ],
  ]

  const stateOf = async () => ({
    store: await lab.engine.storage.store.loadFleet(),
    hosts: (await lab.fleet.operations.listHosts({})).items,
    pins: (await lab.fleet.operations.listPins({})).items,
    profiles: await lab.fleet.operations.listRecords('profile'),
    tokens: await lab.fleet.operations.listTokens(),
    installs: await lab.fleet.operations.listInstalls(),
  })

  it.each(changes)(
    '%s: tried out changes nothing; refused by the store changes nothing; else it is on disk with one entry',
    async (_, run) => {
      const fleet = await open()
      await know('44.1')
      await fleet.putHost('n0', { spec: { ...spec('4'), arch: 'x86_64' } }, byTester)
      const before = await stateOf()
      await run(fleet, true)
      expect(await stateOf()).toEqual(before)
      const { store } = lab.engine.storage
      const writeFleet = store.writeFleet
      Object.assign(store, { writeFleet: () => Promise.reject(new Error('disk full')) })
      await expect(run(fleet, false)).rejects.toThrow('disk full')
      Object.assign(store, { writeFleet })
      expect(await stateOf()).toEqual(before)
      await run(fleet, false)
      const after = await stateOf()
      expect(after).not.toEqual(before)
      expect((await fleet.listAudit({})).items).toMatchObject([
        { by: 'tester', via: 'control' },
        { action: 'host.put' },
      ])
      await lab.reopen()
      expect(await stateOf()).toEqual(after)
    },
  )

  it('that may have been written although the store refused is known before the next one is checked', async () => {
    const fleet = await open()
    const { store } = lab.engine.storage
    const writeFleet = store.writeFleet.bind(store)
    Object.assign(store, {
      async writeFleet(write: { changes: readonly FleetChange[]; audit: [] }) {
        await writeFleet(write)
        throw new Error('no answer')
      },
    })
    await expect(fleet.putHost('n1', { spec: spec('2') }, byTester)).rejects.toThrow('no answer')
    Object.assign(store, { writeFleet })
    await expect(fleet.putHost('n2', { spec: spec('2') }, byTester)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('n1'),
    })
  })
})

describe('a list that is filtered by a name', () => {
  it.each<[string, (fleet: FleetOperations) => Promise<unknown>, string]>([
    ['hosts of a group', (fleet) => fleet.listHosts({ group: 'egde' }), 'did you mean "edge"?'],
    ['hosts with a profile', (fleet) => fleet.listHosts({ profile: 'wroker' }), 'did you mean "worker"?'],
    ['pins of a host', (fleet) => fleet.listPins({ host: 'of-fiel' }), 'did you mean "of-file"?'],
    ['pins of a group', (fleet) => fleet.listPins({ group: 'egde' }), 'did you mean "edge"?'],
    ['reports', (fleet) => fleet.listReports({ host: 'of-fiel' }), 'did you mean "of-file"?'],
    ['changes of a host', (fleet) => fleet.listAudit({ target: 'host/of-fiel' }), 'did you mean "of-file"?'],
    ['changes of a group', (fleet) => fleet.listAudit({ target: 'group/egde' }), 'did you mean "edge"?'],
    [
      'changes of a profile',
      (fleet) => fleet.listAudit({ target: 'profile/wroker' }),
      'did you mean "worker"?',
    ],
  ])('that nobody has says so: %s', async (_, list, hint) => {
    const fleet = await open()
    await expect(list(fleet)).rejects.toMatchObject({ code: 'NOT_FOUND', details: { hint } })
  })

  it('that somebody has, or had and left a trace, is empty', async () => {
    const fleet = await open()
    await fleet.putHost('n1', { spec: spec('2') }, byTester)
    await fleet.removeHost('n1', byTester)
    for (const host of ['of-file', 'n1']) {
      expect(await fleet.listPins({ host })).toMatchObject({ items: [], total: 0 })
      expect(await fleet.listReports({ host })).toMatchObject({ items: [], total: 0 })
    }
    expect((await fleet.listAudit({ target: 'host/n1', by: 'nobody' })).total).toBe(0)
    expect((await fleet.listAudit({ target: 'records' })).total).toBe(0)
  })
})

describe('installs', () => {
  it('by a file are listed before anything is written, counted when served, and done by an admin until the number grows', async () => {
    const install = { mode: 'install', install: { device: '/dev/sda', generation: 3 } }
    const fleet = await open({ hosts: [{ ...fileHost, ...install }] })
    expect(await fleet.listInstalls()).toMatchObject([
      { host: 'of-file', source: 'file', state: 'armed', generation: 3, device: '/dev/sda' },
    ])
    expect((await fleet.showHost('of-file')).install).toMatchObject({ device: '/dev/sda' })
    for (let serve = 0; serve < 5; serve += 1)
      lab.fleet.installs.served('of-file', `${serve}`.repeat(22) as never)
    expect(await fleet.listInstalls()).toMatchObject([{ state: 'exhausted', serves: 5 }])
    expect((await fleet.showHost('of-file')).decision).toBe('local')
    await lab.fleet.installs.stop()
    await lab.reopen()
    const again = lab.fleet.operations
    expect(await again.listInstalls()).toMatchObject([{ state: 'exhausted', serves: 5 }])
    const report = {
      bootId: '1'.repeat(22) as never,
      status: 'installed',
      at: lab.time.now(),
      host: 'of-file',
    } as const
    expect(await lab.fleet.record(report, lab.time.now() - 1)).toBe('recorded')
    expect(await lab.fleet.record(report, lab.time.now() - 1)).toBe('known')
  })

  it('by a file name the disk of the file, and what failed before one was done is no news of it', async () => {
    const install = { mode: 'install', install: { device: '/dev/sda', generation: 3 } }
    const fleet = await open({ hosts: [{ ...fileHost, ...install }] })
    const boot = { bootId: '1'.repeat(22) as never, at: lab.time.now(), host: 'of-file' }
    lab.fleet.installs.served('of-file', boot.bootId)
    await lab.fleet.record({ ...boot, status: 'failed', message: 'no space' }, boot.at)
    expect(await fleet.listInstalls()).toMatchObject([
      { state: 'armed', device: '/dev/sda', failure: { message: 'no space' } },
    ])
    await lab.fleet.record({ ...boot, status: 'installed' }, boot.at)
    const after = { state: 'installed', device: '/dev/sda', failure: undefined }
    expect(await fleet.listInstalls()).toMatchObject([after])
    expect((await fleet.showHost('of-file')).install).toMatchObject(after)
  })

  it('say what is missing, and an admin can end one that he armed by mistake', async () => {
    const fleet = await open()
    await expect(fleet.armInstall({ host: 'of-file' }, byTester)).rejects.toMatchObject({
      details: { field: 'device' },
    })
    await expect(fleet.armInstall({ host: 'of-file', device: 'sda' }, byTester)).rejects.toMatchObject({
      code: 'USAGE',
    })
    await expect(fleet.endInstall({ host: 'of-file', as: 'installed' }, byTester)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    const armed = await fleet.armInstall({ host: 'of-file', device: '/dev/sda' }, byTester)
    expect(armed.next).toMatch(/^waits, and installs as soon as it can: the metadata of sample/)
    expect((await fleet.showHost('of-file')).mode).toBe('install')
    await fleet.endInstall({ host: 'of-file', as: 'disarm' }, byTester)
    expect((await fleet.showHost('of-file')).mode).toBe('live')
  })

  it('of a host that cannot report say so', async () => {
    const fleet = await open()
    const spec = { serial: 'S', stream: 'sample', report: false }
    await fleet.putHost('silent', { spec }, byTester)
    const { next } = await fleet.armInstall({ host: 'silent', device: '/dev/sda' }, byTester)
    expect(next).toContain('cannot report that it is done (report: false), so say pilotlight install silent')
  })
})
