import { afterEach, describe, expect, it } from 'vitest'
import type { RecordKind } from '../../../src/core/fleet.ts'
import { byTester, type FleetLab, openFleetLab } from '../../fakes/fleet-lab.ts'

const mac = '52:54:00:00:00:01'
const known = { unknown: { profile: 'worker' } }

let lab: FleetLab
afterEach(() => lab.close())

/** As a newer version leaves it behind that needed no migration for it. */
async function leave(kind: RecordKind, name: string, spec: Record<string, unknown>): Promise<void> {
  const { store } = lab.engine.storage
  const who = { createdAt: 1, createdBy: 'later', changedAt: 1, changedBy: 'later' }
  await store.writeFleet({
    changes: [
      { put: 'record', record: { kind, name, spec: { ...spec, fromTheFuture: 1 }, revision: 1, ...who } },
    ],
    audit: [],
  })
}

describe('a record that this version cannot read', () => {
  it('G5 holds its host, which is no stranger because of it, and says why', async () => {
    lab = await openFleetLab({ config: known })
    await leave('host', 'n1', { macs: [mac], mode: 'hold' })
    await leave('host', 'n2', { macs: 7, uuid: '4c4c4544-0031-3010-8043-b4c04f4d3132', serial: '' })
    await lab.reopen()
    const fleet = lab.fleet.operations
    for (const id of ['n1', 'n2']) {
      expect(await fleet.showHost(id)).toMatchObject({
        decision: 'hold',
        reason: expect.stringMatching(
          `the record of host ${id} cannot be read by this version: .*fromTheFuture`,
        ),
      })
    }
    expect(lab.engine.fleet.inventory().hostsByMac.get(mac as never)?.id).toBe('n1')
    expect(lab.engine.fleet.conflictsOf('n1')).toEqual([expect.stringContaining('its machines are held')])
    await fleet.putHost('n1', { spec: { macs: [mac], profile: 'worker' } }, byTester)
    expect(await fleet.showHost('n1')).toMatchObject({ mode: 'live' })
  })

  it('holds the hosts of a group and of a profile', async () => {
    const labels = { site: 'a' }
    lab = await openFleetLab({ hosts: [{ id: 'n1', macs: [mac], profile: 'worker', labels }] })
    await leave('group', 'a', { match: { labels }, pin: { release: '44.1' } })
    await leave('profile', 'later', { mode: 'live' })
    await leave('host', 'n2', {})
    await lab.fleet.operations.putHost('n3', { spec: { serial: 'S3', mode: 'live' } }, byTester)
    await lab.reopen()
    const { showHost } = lab.fleet.operations
    expect(await showHost('n1')).toMatchObject({
      decision: 'hold',
      reason: expect.stringContaining('the record of group a cannot be read'),
    })
    expect((await showHost('n3')).mode).toBe('live')
  })

  it('is not restored from a backup, which is refused whole', async () => {
    lab = await openFleetLab({ config: known })
    await leave('host', 'n1', { macs: [mac] })
    const file = `${lab.loaded().config.dataDir}/backup.db`
    const { store } = lab.engine.storage
    await store.backup(file)
    await store.writeFleet({ changes: [{ remove: 'record', kind: 'host', name: 'n1' }], audit: [] })
    const restored = lab.fleet.operations.restore({ file }, byTester)
    await expect(restored).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: expect.stringMatching(/host n1: .*fromTheFuture.*nothing was changed/),
    })
    expect((await store.loadFleet()).records).toEqual([])
  })
})
