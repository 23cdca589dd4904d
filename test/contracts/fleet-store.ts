import { readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { BootimageId } from '../../src/core/bootimage.ts'
import type { FleetChange, NodeReport, RunTimeSetting } from '../../src/core/fleet.ts'
import type { StateStore } from '../../src/state/store.ts'
import { makeBootimage, makeRecord } from '../fakes/bootimages.ts'
import {
  makeAudit,
  makeBootId,
  makeInstall,
  makeMac,
  makePin,
  makeReport,
  makeSeen,
  makeStoredRecord,
  makeToken,
  nothingIsOver,
  t0,
} from '../fakes/stored-fleet.ts'

/** What admins and nodes said; part of what every state store does. `directory` is empty and for this test alone. */
export function describeFleetStore(current: () => StateStore, directory: () => string): void {
  const write = (...changes: FleetChange[]) => current().writeFleet({ changes, audit: [] })

  it('nobody has said anything at first', async () => {
    const store = current()
    const empty = { records: [], settings: [], installs: [], tokens: [], revocations: [] }
    expect(await store.loadFleet()).toEqual(empty)
    expect(await store.listAudit({ limit: 10 })).toEqual({ items: [], total: 0 })
    expect(await store.listReports({ limit: 10 })).toEqual({ items: [], total: 0 })
    expect(await store.listSeenMachines({ limit: 10 })).toEqual([])
    await store.writeFleet({ changes: [], audit: [] })
    expect(await store.loadFleet()).toEqual(empty)
  })

  it('what was said comes back as it was said, with all of its fields', async () => {
    const records = [
      makeStoredRecord({ kind: 'group', name: 'edge', spec: { match: { labels: { site: 'edge' } } } }),
      makeStoredRecord({ revision: 7, changedAt: t0 + 1, changedBy: 'boot x' }),
      makeStoredRecord({ kind: 'profile', name: 'edge', spec: {} }),
    ]
    const settings: readonly RunTimeSetting[] = [
      { kind: 'mode', target: { kind: 'group', name: 'edge' }, mode: 'hold', by: 'a', at: t0, reason: '' },
      makePin({ arch: 'aarch64', stream: 'fcos-next', reason: 'NIC', until: t0 + 5, macs: [makeMac(1)] }),
      makePin({ target: { kind: 'host', name: 'z' }, macs: [] }),
    ]
    const installs = [
      makeInstall({
        device: '/dev/sda',
        reason: 'new disk',
        failure: { at: t0 + 2, bootId: makeBootId(1), message: 'no space' },
        serves: 3,
      }),
      makeInstall({
        host: 'rack1-n02',
        source: 'file',
        state: 'installed',
        fileGeneration: 4,
        marks: ['MAC 52:54:00:00:00:02', 'serial A 1'],
      }),
    ]
    const tokens = [makeToken({ expiresAt: t0 + 9, revokedAt: t0 + 8 }), makeToken({ id: 'B', role: 'read' })]
    await write(
      ...records.map((record) => ({ put: 'record', record }) as const),
      ...settings.map((setting) => ({ put: 'setting', setting }) as const),
      ...installs.map((install) => ({ put: 'install', install }) as const),
      ...tokens.map((token) => ({ put: 'token', token }) as const),
      { put: 'revocation', revocation: { host: 'rack1-n01', before: t0 } },
    )
    const state = await current().loadFleet()
    expect(state.records).toEqual(records)
    expect(byText(state.settings)).toEqual(byText(settings))
    expect(state.installs).toEqual(installs)
    expect(state.tokens).toEqual(tokens)
    expect(state.revocations).toEqual([{ host: 'rack1-n01', before: t0 }])
  })

  it('what is said again replaces what was said before, with all of its optional fields', async () => {
    const pin = makePin({ reason: 'NIC', until: t0 + 5, stream: 'fcos-next', macs: [makeMac(1)] })
    const install = makeInstall({ device: '/dev/sda', failure: { at: t0, bootId: makeBootId(1) } })
    await write(
      { put: 'record', record: makeStoredRecord() },
      { put: 'setting', setting: pin },
      { put: 'install', install },
      { put: 'token', token: makeToken({ expiresAt: t0 }) },
    )
    await write(
      { put: 'record', record: makeStoredRecord({ spec: { stream: 'fcos-next' }, revision: 2 }) },
      { put: 'setting', setting: makePin() },
      { put: 'install', install: makeInstall({ generation: 2 }) },
      { put: 'token', token: makeToken({ revokedAt: t0 + 1 }) },
    )
    expect(await current().loadFleet()).toEqual({
      records: [makeStoredRecord({ spec: { stream: 'fcos-next' }, revision: 2 })],
      settings: [makePin()],
      installs: [makeInstall({ generation: 2 })],
      tokens: [makeToken({ revokedAt: t0 + 1 })],
      revocations: [],
    })
  })

  it('G5 a target has one pin for each architecture, one for all, and one mode', async () => {
    const target = { kind: 'host', name: 'rack1-n01' } as const
    const mode = { kind: 'mode', target, mode: 'hold', by: 'a', at: t0 } as const
    const settings = [makePin(), makePin({ arch: 'x86_64' }), makePin({ arch: 'aarch64' }), mode]
    await write(...settings.map((setting) => ({ put: 'setting', setting }) as const))
    await write({ put: 'setting', setting: { ...mode, mode: 'local' } })
    const found = await current().loadFleet()
    expect(byText(found.settings)).toEqual(byText([...settings.slice(0, 3), { ...mode, mode: 'local' }]))
  })

  it('what is taken back is gone, and taking back what is not there changes nothing', async () => {
    await write(
      { put: 'record', record: makeStoredRecord() },
      { put: 'record', record: makeStoredRecord({ kind: 'group' }) },
      { put: 'setting', setting: makePin() },
      { put: 'install', install: makeInstall() },
      { put: 'token', token: makeToken() },
    )
    await write(
      { remove: 'record', kind: 'host', name: 'rack1-n01' },
      { remove: 'record', kind: 'profile', name: 'rack1-n01' },
      { remove: 'setting', id: 'pin/host/rack1-n01/*' },
      { remove: 'setting', id: 'pin/host/absent/*' },
      { remove: 'install', host: 'rack1-n01' },
      { remove: 'install', host: 'absent' },
      { remove: 'token', id: 'AAAAbbbb0000' },
      { remove: 'token', id: 'absent' },
    )
    expect(await current().loadFleet()).toEqual({
      records: [makeStoredRecord({ kind: 'group' })],
      settings: [],
      installs: [],
      tokens: [],
      revocations: [],
    })
  })

  it('changes count in their order: what comes last stands', async () => {
    const put = (revision: number) => ({ put: 'record', record: makeStoredRecord({ revision }) }) as const
    const remove = { remove: 'record', kind: 'host', name: 'rack1-n01' } as const
    await write(put(1), put(2), remove, put(3), put(4))
    expect((await current().loadFleet()).records).toMatchObject([{ revision: 4 }])
    await write(put(5), remove)
    expect((await current().loadFleet()).records).toEqual([])
  })

  it('of two revocations of a host the later counts: what was revoked stays so', async () => {
    await write({ put: 'revocation', revocation: { host: 'n', before: t0 } })
    await write({ put: 'revocation', revocation: { host: 'n', before: t0 - 1 } })
    expect((await current().loadFleet()).revocations).toEqual([{ host: 'n', before: t0 }])
    await write({ put: 'revocation', revocation: { host: 'n', before: t0 + 1 } })
    expect((await current().loadFleet()).revocations).toEqual([{ host: 'n', before: t0 + 1 }])
  })

  it('of a boot and state the first report counts, in the same change as well', async () => {
    const whole = makeReport(1, {
      mac: makeMac(1),
      address: '192.0.2.7',
      bootimage: 'b' as BootimageId,
      osVersion: '44.20260621.3.1',
      kernelCommandLineSha256: 'cd'.repeat(32),
      machineId: 'ef'.repeat(16),
      message: '',
    })
    await write({ put: 'report', report: whole })
    await write(
      { put: 'report', report: makeReport(1, { at: t0 + 50, osVersion: 'another' }) },
      { put: 'report', report: makeReport(1, { status: 'failed', at: t0 + 60 }) },
      { put: 'report', report: makeReport(1, { status: 'failed', at: t0 + 70 }) },
    )
    expect(await current().listReports({ bootId: makeBootId(1), limit: 10 })).toEqual({
      items: [makeReport(1, { status: 'failed', at: t0 + 60 }), whole],
      total: 2,
    })
  })

  it('reports of one moment are each on one page', async () => {
    const said = [1, 2, 3].flatMap((boot) =>
      (['booted', 'failed', 'installed'] as const).map((status) => makeReport(boot, { at: t0, status })),
    )
    await write(...said.map((report) => ({ put: 'report', report }) as const))
    const found: NodeReport[] = []
    for (let page = 0; page < 5; page += 1) {
      const after = found.at(-1)
      const { items } = await current().listReports({ limit: 2, ...(after && { after }) })
      expect(items).toHaveLength(page < 4 ? 2 : 1)
      found.push(...items)
    }
    expect(found).toEqual(said)
  })

  it('reports are found by host and boot, newest first, page by page', async () => {
    await write(
      ...[1, 2, 3, 4].map(
        (number) =>
          ({
            put: 'report',
            report: makeReport(number, { host: number === 2 ? 'rack1-n02' : 'rack1-n01' }),
          }) as const,
      ),
    )
    const store = current()
    const boots = async (filter: Parameters<typeof store.listReports>[0]) => {
      const { items, total } = await store.listReports(filter)
      return [items.map(({ at }) => at - t0), total]
    }
    expect(await boots({ limit: 3 })).toEqual([[4, 3, 2], 4])
    expect(await boots({ limit: 3, after: makeReport(2) })).toEqual([[1], 4])
    expect(await boots({ limit: 3, host: 'rack1-n02' })).toEqual([[2], 1])
    expect(await boots({ limit: 3, bootId: makeBootId(3) })).toEqual([[3], 1])
    expect(await boots({ limit: 0 })).toEqual([[], 4])
  })

  it('the audit is written with its change, and found by whom, what, when and about what', async () => {
    const store = current()
    await store.writeFleet({
      changes: [{ put: 'setting', setting: makePin() }],
      audit: [makeAudit({ reason: 'NIC' }), makeAudit({ at: t0 + 1, action: 'pin.remove' })],
    })
    await store.writeFleet({
      changes: [],
      audit: [makeAudit({ at: t0 + 2, by: 'root (control socket)', via: 'control', target: 'group/edge' })],
    })
    const all = await store.listAudit({ limit: 10 })
    expect(all.total).toBe(3)
    expect(all.items.map(({ id: _, ...entry }) => entry)).toEqual([
      makeAudit({ at: t0 + 2, by: 'root (control socket)', via: 'control', target: 'group/edge' }),
      makeAudit({ at: t0 + 1, action: 'pin.remove' }),
      makeAudit({ reason: 'NIC' }),
    ])
    const ids = all.items.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))

    const found = async (filter: Partial<Parameters<typeof store.listAudit>[0]>) => {
      const { items, total } = await store.listAudit({ limit: 10, ...filter })
      return [items.map(({ at }) => at - t0), total]
    }
    expect(await found({ limit: 2 })).toEqual([[2, 1], 3])
    expect(await found({ limit: 2, beforeId: ids[1] })).toEqual([[0], 3])
    expect(await found({ target: 'host/rack1-n01' })).toEqual([[1, 0], 2])
    expect(await found({ by: 'root (control socket)' })).toEqual([[2], 1])
    expect(await found({ action: 'pin.remove' })).toEqual([[1], 1])
    expect(await found({ since: t0 + 1 })).toEqual([[2, 1], 2])
    expect(await found({ since: t0 + 1, target: 'host/rack1-n01', by: 'nobody' })).toEqual([[], 0])
  })

  it('a thousand hosts are written at once', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${String(index).padStart(4, '0')}`)
    await write(...names.map((name) => ({ put: 'record', record: makeStoredRecord({ name }) }) as const))
    expect((await current().loadFleet()).records.map(({ name }) => name)).toEqual(names)
    await write(...names.slice(1).map((name) => ({ remove: 'record', kind: 'host', name }) as const))
    expect((await current().loadFleet()).records.map(({ name }) => name)).toEqual(['n0000'])
  })

  it('a machine that is seen again keeps when it was seen first', async () => {
    const store = current()
    const whole = makeSeen(1, {
      uuid: '4c4c4544-0042-3510-8051-c4c04f4d3232',
      serial: 'B5QM2M2',
      arch: 'x86_64',
      firmware: 'uefi',
      address: '192.0.2.7',
      decision: 'ignored: unknown machine',
    })
    await store.saveSeenMachines([whole, makeSeen(2), makeSeen(3)])
    await store.saveSeenMachines([])
    await store.saveSeenMachines([makeSeen(2, { firstSeenAt: t0 + 9, lastSeenAt: t0 + 9, count: 5 })])
    expect(await store.listSeenMachines({ limit: 10 })).toEqual([
      makeSeen(2, { lastSeenAt: t0 + 9, count: 5 }),
      makeSeen(3),
      whole,
    ])
    expect(await store.listSeenMachines({ limit: 1 })).toHaveLength(1)
    await store.removeSeenMachines([makeMac(2), makeMac(99)])
    expect((await store.listSeenMachines({ limit: 10 })).map(({ mac }) => mac)).toEqual([
      makeMac(3),
      makeMac(1),
    ])
  })

  it('a secret is made once for each name', async () => {
    const store = current()
    const first = new Uint8Array([0, 1, 2, 255])
    expect(await store.secretKey('boot-tokens', () => first)).toEqual(first)
    expect(await store.secretKey('boot-tokens', () => new Uint8Array([9]))).toEqual(first)
    expect(await store.secretKey('other', () => new Uint8Array([9]))).toEqual(new Uint8Array([9]))
    const together = await Promise.all(
      [1, 2, 3].map((byte) => store.secretKey('third', () => new Uint8Array([byte]))),
    )
    expect(new Set(together.map(String)).size).toBe(1)
  })

  it('what is over leaves, the oldest first and so many at a time, and the rest stays', async () => {
    const store = current()
    await store.writeFleet({
      changes: [1, 2, 3].map((number) => ({ put: 'report', report: makeReport(number) }) as const),
      audit: [1, 2, 3].map((number) => makeAudit({ at: t0 + number })),
    })
    await store.saveSeenMachines([makeSeen(1), makeSeen(2), makeSeen(3)])
    expect(await store.trimHistory(nothingIsOver)).toEqual({ removed: 0 })

    const before = t0 + 3
    const over = { ...nothingIsOver, auditBefore: before, reportsBefore: before, seenBefore: before, most: 1 }
    expect(await store.trimHistory(over)).toEqual({ removed: 3 })
    const left = async () => [
      (await store.listAudit({ limit: 9 })).items.map(({ at }) => at - t0),
      (await store.listReports({ limit: 9 })).items.map(({ at }) => at - t0),
      (await store.listSeenMachines({ limit: 9 })).map(({ lastSeenAt }) => lastSeenAt - t0),
    ]
    expect(await left()).toEqual([
      [3, 2],
      [3, 2],
      [3, 2],
    ])
    expect(await store.trimHistory({ ...over, most: 9 })).toEqual({ removed: 3 })
    expect(await left()).toEqual([[3], [3], [3]])
  })

  it('of audit entries and seen machines no more are kept than were asked for, the newest', async () => {
    const store = current()
    await store.writeFleet({ changes: [], audit: [1, 2, 3, 4].map((at) => makeAudit({ at: t0 + at })) })
    await store.saveSeenMachines([1, 2, 3, 4].map((number) => makeSeen(number)))
    const limits = { ...nothingIsOver, mostAudit: 1, mostSeen: 2 }
    expect(await store.trimHistory({ ...limits, most: 1 })).toEqual({ removed: 2 })
    expect(await store.trimHistory(limits)).toEqual({ removed: 3 })
    expect((await store.listAudit({ limit: 9 })).items.map(({ at }) => at - t0)).toEqual([4])
    expect((await store.listSeenMachines({ limit: 9 })).map(({ mac }) => mac)).toEqual([
      makeMac(4),
      makeMac(3),
    ])
    // An id is never given twice, so that a page that is asked for by id does not show an entry again.
    const [newest] = (await store.listAudit({ limit: 1 })).items
    await store.trimHistory({ ...limits, mostAudit: 0 })
    await store.writeFleet({ changes: [], audit: [makeAudit()] })
    expect((await store.listAudit({ limit: 1 })).items[0]?.id).toBeGreaterThan(newest?.id ?? 0)
  })

  it('a backup holds what was said until then, for this user alone, and never overwrites anything', async () => {
    const store = current()
    const file = join(directory(), 'backup.db')
    await write({ put: 'record', record: makeStoredRecord() })
    const { sizeBytes, schemaVersion } = await store.backup(file)
    const found = await stat(file)
    expect([found.size, found.mode & 0o777]).toEqual([sizeBytes, 0o600])
    expect(schemaVersion).toBeGreaterThan(0)

    await expect(store.backup(file)).rejects.toMatchObject({ code: 'CONFLICT' })
    await symlink(join(directory(), 'elsewhere'), join(directory(), 'link'))
    await expect(store.backup(join(directory(), 'link'))).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(store.backup(join(directory(), 'absent', 'x'))).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
    })
    expect((await readdir(directory())).filter((name) => /elsewhere|absent/.test(name))).toEqual([])
  })

  it('restoring puts what admins said in the place of what they said since', async () => {
    const store = current()
    const file = join(directory(), 'backup.db')
    await write(
      { put: 'record', record: makeStoredRecord() },
      { put: 'record', record: makeStoredRecord({ name: 'gone' }) },
      { put: 'setting', setting: makePin() },
      { put: 'token', token: makeToken() },
    )
    const secret = await store.secretKey('boot-tokens', () => new Uint8Array([1]))
    const before = await store.loadFleet()
    await store.backup(file)
    await write(
      { put: 'record', record: makeStoredRecord({ revision: 2, spec: { stream: 'other' } }) },
      { remove: 'record', kind: 'host', name: 'gone' },
      { put: 'record', record: makeStoredRecord({ name: 'new' }) },
      { put: 'setting', setting: makePin({ release: '45.1' }) },
      { put: 'setting', setting: makePin({ arch: 'aarch64' }) },
      { put: 'token', token: makeToken({ id: 'new' }) },
    )
    await store.saveHead({ stream: 's', arch: 'x86_64', previous: [] })
    expect(await store.restore(file)).toEqual({
      records: 2,
      settings: 1,
      installs: 0,
      tokens: 1,
      pinnedReleases: 0,
    })
    expect(await store.loadFleet()).toEqual(before)
    expect(await store.listHeads()).toHaveLength(1)
    expect(await store.secretKey('boot-tokens', () => new Uint8Array([2]))).toEqual(secret)
    // A backup may be taken again and again.
    await store.restore(file)
    expect(await store.loadFleet()).toEqual(before)
  })

  it('G5 restoring adds resolved pins and their bootimages, and what is resolved here stays', async () => {
    const store = current()
    const file = join(directory(), 'backup.db')
    const [kept, other] = [makeBootimage(), makeBootimage({ edition: 'again' })]
    const pin = { stream: 'fcos-stable', arch: 'x86_64', resolvedAt: t0 } as const
    for (const bootimage of [kept, other]) await store.addBootimage(makeRecord(bootimage, 'ready'))
    await store.savePinResolution({ ...pin, release: '1', bootimage: kept.id })
    await store.savePinResolution({ ...pin, release: '2', bootimage: kept.id })
    await store.backup(file)
    await store.removeBootimage(kept.id)
    await store.removeBootimage(other.id)
    await store.savePinResolution({ ...pin, release: '2', bootimage: other.id })
    await store.savePinResolution({ ...pin, release: '3', bootimage: other.id })
    expect(await store.restore(file)).toMatchObject({ pinnedReleases: 2 })
    expect((await store.listBootimages()).map(({ bootimage }) => bootimage.id)).toEqual([kept.id])
    expect((await store.listPinResolutions()).map(({ release, bootimage }) => [release, bootimage])).toEqual([
      ['1', kept.id],
      ['2', other.id],
      ['3', other.id],
    ])
  })

  it('restoring arms no install again that was done since, and revives nothing that was revoked', async () => {
    const store = current()
    const file = join(directory(), 'backup.db')
    await write(
      { put: 'install', install: makeInstall() },
      { put: 'install', install: makeInstall({ host: 'n2', changedAt: t0 + 5, generation: 2 }) },
      { put: 'token', token: makeToken() },
      { put: 'revocation', revocation: { host: 'a', before: t0 } },
      { put: 'revocation', revocation: { host: 'b', before: t0 } },
    )
    await store.backup(file)
    const done = makeInstall({ state: 'installed', changedAt: t0 + 1 })
    const since = makeInstall({ host: 'n3', state: 'installed', fileGeneration: 4 })
    await write(
      { put: 'install', install: done },
      { put: 'install', install: makeInstall({ host: 'n2', changedAt: t0 + 4 }) },
      { put: 'install', install: since },
      { put: 'token', token: makeToken({ revokedAt: t0 + 1 }) },
      { put: 'revocation', revocation: { host: 'a', before: t0 + 1 } },
    )
    expect(await store.restore(file)).toMatchObject({ installs: 2, tokens: 1 })
    expect(await store.loadFleet()).toMatchObject({
      installs: [makeInstall({ host: 'n2', changedAt: t0 + 5, generation: 2 }), since, done].toSorted(
        (a, b) => (a.host < b.host ? -1 : 1),
      ),
      tokens: [makeToken({ revokedAt: t0 + 1 })],
      revocations: [
        { host: 'a', before: t0 + 1 },
        { host: 'b', before: t0 },
      ],
    })
  })

  it('restoring changes nothing when whoever knows the records refuses them', async () => {
    const store = current()
    const file = join(directory(), 'backup.db')
    await write({ put: 'record', record: makeStoredRecord() })
    await store.backup(file)
    await write({ remove: 'record', kind: 'host', name: makeStoredRecord().name })
    const refused = store.restore(file, async ([record]) => {
      throw new TypeError(`no ${record?.name}`)
    })
    await expect(refused).rejects.toThrow(`no ${makeStoredRecord().name}`)
    expect((await store.loadFleet()).records).toEqual([])
    expect(await store.restore(file, async () => {})).toMatchObject({ records: 1 })
  })

  it('restoring keeps the audit and the reports of both, in the order of time', async () => {
    const store = current()
    const [file, empty] = [join(directory(), 'backup.db'), join(directory(), 'empty.db')]
    await store.backup(empty)
    await store.writeFleet({
      changes: [{ put: 'report', report: makeReport(1) }],
      audit: [makeAudit({ at: t0 + 1 }), makeAudit({ at: t0 + 3 })],
    })
    await store.backup(file)
    await store.trimHistory({ ...nothingIsOver, auditBefore: t0 + 9, reportsBefore: t0 + 9 })
    await store.writeFleet({
      changes: [{ put: 'report', report: makeReport(2) }],
      audit: [makeAudit({ at: t0 + 2, reason: 'since' }), makeAudit({ at: t0 + 4 })],
    })
    await store.restore(file)
    const times = async () => (await store.listAudit({ limit: 9 })).items.map(({ at }) => at - t0)
    expect(await times()).toEqual([4, 3, 2, 1])
    expect((await store.listReports({ limit: 9 })).items.map(({ at }) => at - t0)).toEqual([2, 1])
    const ids = (await store.listAudit({ limit: 9 })).items.map(({ id }) => id)
    await store.restore(file)
    await store.restore(empty)
    expect((await store.listAudit({ limit: 9 })).items.map(({ id }) => id)).toEqual(ids)
  })

  it('what is no backup is refused and changes nothing', async () => {
    const store = current()
    await write({ put: 'record', record: makeStoredRecord() })
    const before = await store.loadFleet()
    const bad = join(directory(), 'bad.db')
    await writeFile(bad, 'not a backup '.repeat(500))
    await writeFile(join(directory(), 'empty.db'), '')
    await expect(store.restore(bad)).rejects.toMatchObject({ code: 'BACKUP_INVALID' })
    await expect(store.restore(join(directory(), 'empty.db'))).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
    })
    await expect(store.restore(join(directory(), 'absent.db'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await store.loadFleet()).toEqual(before)
  })

  it('what admins write can be any text, and changing what was given out changes nothing here', async () => {
    const text = `"o'brien" \u{1f680} '; drop table install; --\n`
    const record = makeStoredRecord({ name: text, spec: { [text]: [text, null, 1.5, { deep: true }] } })
    await write(
      { put: 'record', record },
      { put: 'setting', setting: makePin({ target: { kind: 'group', name: text }, reason: text }) },
    )
    const state = await current().loadFleet()
    expect(state.records).toEqual([record])
    expect(state.settings).toMatchObject([{ target: { name: text }, reason: text }])
    for (const { spec } of state.records) (spec as Record<string, unknown>).more = true
    expect((await current().loadFleet()).records).toEqual([record])
  })
}

function byText<T>(values: readonly T[]): readonly T[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
