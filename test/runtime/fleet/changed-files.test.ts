import { afterEach, describe, expect, it } from 'vitest'
import type { FleetOperations } from '../../../src/http/admin/fleet-operations.ts'
import { byTester, type FleetLab, openFleetLab } from '../../fakes/fleet-lab.ts'

const mac = '52:54:00:00:00:01'
const installs = { mode: 'install', install: { device: '/dev/sda', generation: 3 } }
const host = (id: string, said: object = {}) => ({ id, macs: [mac], profile: 'worker', ...said })

let lab: FleetLab
afterEach(() => lab.close())
const fleet = (): FleetOperations => lab.fleet.operations

describe('a running service whose files change', () => {
  const ids = async (query: Parameters<FleetOperations['listHosts']>[0] = {}) =>
    (await fleet().listHosts(query)).items.map(({ id }) => id)

  it('lists hosts that came, went and were renamed, with their labels, groups and profiles, and counts them', async () => {
    lab = await openFleetLab({ hosts: [host('a'), { id: 'b', serial: 'S1', labels: { site: 'edge' } }] })
    expect(await ids()).toEqual(['a', 'b'])
    expect(await ids({ group: 'edge' })).toEqual(['b'])
    expect(await ids({ profile: 'worker' })).toEqual(['a'])
    await lab.putFiles({
      hosts: [host('renamed', { labels: { site: 'edge' } }), { id: 'c', serial: 'S2', mode: 'local' }],
    })
    expect(await fleet().listHosts({})).toMatchObject({
      total: 2,
      items: [{ id: 'c' }, { id: 'renamed', groups: ['edge'] }],
    })
    expect(await ids({ group: 'edge' })).toEqual(['renamed'])
    expect(await ids({ label: 'site=edge' })).toEqual(['renamed'])
    expect(await ids({ search: 's2' })).toEqual(['c'])
    expect(await ids({ mode: 'local' })).toEqual(['c'])
    expect(await fleet().showRecord('group', 'edge')).toMatchObject({ hosts: 1 })
    await lab.putFiles({
      hosts: [{ id: 'c', serial: 'S2', labels: { site: 'core' } }],
      config: {
        groups: { core: { match: { labels: { site: 'core' } }, profile: 'other' } },
        profiles: { other: { mode: 'hold' } },
      },
    })
    expect(await ids({ profile: 'other', mode: 'hold' })).toEqual(['c'])
    expect(await fleet().listRecords('group')).toMatchObject([{ name: 'core', hosts: 1 }])
    expect(await fleet().listRecords('profile')).toMatchObject([{ name: 'other', hosts: 1 }])
  })

  it('never installs a host again because it has another name now, also after a restart and a restore (field case 154)', async () => {
    lab = await openFleetLab({ hosts: [host('f2', installs)] })
    await fleet().endInstall({ host: 'f2', as: 'installed' }, byTester)
    await lab.putFiles({ hosts: [host('renamed', installs)] })
    const done = { install: { state: 'installed', generation: 3 }, decision: 'local' }
    expect(await fleet().showHost('renamed')).toMatchObject(done)
    expect(await fleet().listInstalls()).toMatchObject([
      { host: 'f2' },
      { host: 'renamed', state: 'installed' },
    ])
    await lab.reopen()
    expect(await fleet().showHost('renamed')).toMatchObject(done)
    const file = `${lab.loaded().config.dataDir}/backup.db`
    await fleet().backup({ file })
    await fleet().restore({ file }, byTester)
    expect(await fleet().showHost('renamed')).toMatchObject(done)
    await lab.putFiles({
      hosts: [host('renamed', { ...installs, install: { device: '/dev/sda', generation: 4 } })],
    })
    expect(await fleet().showHost('renamed')).toMatchObject({ install: { state: 'armed', generation: 4 } })
    await fleet().endInstall({ host: 'renamed', as: 'installed' }, byTester)
    // Back to the name whose own record says less.
    await lab.putFiles({
      hosts: [host('f2', { ...installs, install: { device: '/dev/sda', generation: 4 } })],
    })
    expect(await fleet().showHost('f2')).toMatchObject({ install: { state: 'installed', generation: 4 } })
  })

  it('knows a machine by a card that it got after it was installed', async () => {
    lab = await openFleetLab({ hosts: [host('f2', installs)] })
    await fleet().endInstall({ host: 'f2', as: 'installed' }, byTester)
    const macs = ['52:54:00:00:00:09']
    await lab.putFiles({ hosts: [host('f2', { ...installs, macs })] })
    await lab.putFiles({ hosts: [host('renamed', { ...installs, macs })] })
    expect(await fleet().showHost('renamed')).toMatchObject({ install: { state: 'installed' } })
    await lab.reopen()
    expect(await fleet().showHost('renamed')).toMatchObject({ install: { state: 'installed' } })
  })

  it('takes an install by an admin over to the new name, with its limits, and to be released there', async () => {
    lab = await openFleetLab({ hosts: [host('f2')] })
    await fleet().armInstall({ host: 'f2', device: '/dev/sdb', mostServes: 2 }, byTester)
    await lab.putFiles({ hosts: [host('renamed')] })
    expect(await fleet().showHost('renamed')).toMatchObject({
      mode: 'install',
      install: { state: 'armed', device: '/dev/sdb', mostServes: 2 },
    })
    await fleet().endInstall({ host: 'renamed', as: 'installed' }, byTester)
    expect(await fleet().showHost('renamed')).toMatchObject({ mode: 'local' })
    await fleet().releaseMode({ target: { kind: 'host', name: 'renamed' } }, byTester)
    expect(await fleet().showHost('renamed')).toMatchObject({ mode: 'live' })
  })

  it('keeps the word of a record of the API that went, for whoever gets its machine', async () => {
    lab = await openFleetLab({ hosts: [] })
    await fleet().putHost('n1', { spec: { macs: [mac], profile: 'worker', ...installs } }, byTester)
    await fleet().endInstall({ host: 'n1', as: 'installed' }, byTester)
    await fleet().putHost(
      'n1',
      { spec: { macs: ['52:54:00:00:00:07'], profile: 'worker', ...installs } },
      byTester,
    )
    await fleet().removeHost('n1', byTester)
    await lab.putFiles({ hosts: [host('n2', { ...installs, macs: ['52:54:00:00:00:07'] })] })
    expect(await fleet().showHost('n2')).toMatchObject({ install: { state: 'installed' }, decision: 'local' })
  })
})
