import { copyFile, mkdtemp, readdir, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FleetWrite } from '../../src/core/fleet.ts'
import { migrate } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateStore } from '../../src/state/store.ts'
import type { StateTables } from '../../src/state/tables.ts'
import { makeAudit, makeStoredRecord } from '../fakes/stored-fleet.ts'
import { canMountTmpfs, mountTmpfs } from '../fakes/tmpfs.ts'

const canMount = canMountTmpfs()
if (!canMount)
  process.stderr.write(
    'test/system/state-disk.test.ts: nothing can be mounted here (root?), its tests are skipped\n',
  )

const hosts = (from: number, count: number): FleetWrite => ({
  changes: Array.from({ length: count }, (_, index) => ({
    put: 'record',
    record: makeStoredRecord({ name: `n${from + index}`, spec: { kernelArguments: ['x'.repeat(200)] } }),
  })),
  audit: [makeAudit({ summary: `${from}` })],
})

let disk: string
let file: string
let store: StateStore | undefined
beforeEach(async () => {
  disk = await mkdtemp(join(tmpdir(), 'pilotlight-disk-'))
  file = join(disk, 'state.db')
})
afterEach(() => rm(disk, { recursive: true, force: true }))

describe.skipIf(!canMount)('a disk without room for the state', () => {
  let unmount = () => {}
  beforeEach(async () => {
    unmount = await mountTmpfs(disk, 'size=4m')
  })
  afterEach(async () => {
    await store?.close()
    store = undefined
    unmount()
  })

  const filler = () => join(disk, 'filler')
  async function fillUp(): Promise<void> {
    await writeFile(filler(), Buffer.alloc(8 << 20)).catch((error: NodeJS.ErrnoException) => {
      expect(error.code).toBe('ENOSPC')
    })
  }

  it('G7 refuses changes whole, keeps what was acknowledged, reads on, and goes on with room', async () => {
    store = await openStateStore({ file })
    let acknowledged = 0
    let failure: unknown
    for (let from = 0; from < 100_000 && failure === undefined; from += 500) {
      await store.writeFleet(hosts(from, 500)).then(
        () => {
          acknowledged += 500
        },
        (error: unknown) => {
          failure = error
        },
      )
    }
    expect(failure).toMatchObject({ code: 'STATE_UNAVAILABLE', details: { sqliteCode: 'SQLITE_FULL' } })
    expect(acknowledged).toBeGreaterThan(0)
    expect((await store.loadFleet()).records).toHaveLength(acknowledged)
    expect((await store.listAudit({ limit: 1 })).total).toBe(acknowledged / 500)
    await expect(store.backup(join(disk, 'backup.db'))).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('the file system is full'),
    })
    expect((await readdir(disk)).filter((name) => name.includes('backup'))).toEqual([])

    // The next start finds the same, without a hand.
    await store.close()
    store = await openStateStore({ file })
    expect((await store.loadFleet()).records).toHaveLength(acknowledged)
    await store
      .writeFleet({
        changes: [{ remove: 'record', kind: 'host', name: 'n0' }],
        audit: [],
      })
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'STATE_UNAVAILABLE' }))
  })

  it('G7 full to the last byte refuses a single pin, and takes it when there is room again', async () => {
    store = await openStateStore({ file })
    await store.writeFleet(hosts(0, 10))
    await fillUp()
    let failure: unknown
    for (let from = 10; from < 5_000 && failure === undefined; from++)
      failure = await store.writeFleet(hosts(from, 1)).then(
        () => undefined,
        (error: unknown) => error,
      )
    expect(failure).toMatchObject({ code: 'STATE_UNAVAILABLE' })
    const before = await store.loadFleet()
    await unlink(filler())
    await store.writeFleet(hosts(90_000, 1))
    expect((await store.loadFleet()).records).toHaveLength(before.records.length + 1)
  })

  it('G7 an update that cannot make its copy changes nothing, and is made with room', async () => {
    // Made elsewhere: what this thread has open here would be in the way of unmounting.
    const elsewhere = await mkdtemp(join(tmpdir(), 'pilotlight-old-'))
    const db = openSqlite<StateTables>(join(elsewhere, 'state.db'))
    await migrate(db, migrations.slice(0, 4))
    await db.destroy()
    await copyFile(join(elsewhere, 'state.db'), file)
    await rm(elsewhere, { recursive: true })
    await fillUp()
    // Enough for opening it, and not for a copy.
    await truncate(filler(), (await stat(filler())).size - (80 << 10))
    await expect(openStateStore({ file })).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: expect.stringMatching(/no copy of it could be made first: .*full.*nothing was changed/),
    })
    await unlink(filler())
    expect(await readdir(join(disk, 'backups'))).toEqual([])
    store = await openStateStore({ file })
    // Its version was still that of before.
    expect(await readdir(join(disk, 'backups'))).toEqual([expect.stringMatching(/^state-v4-.*\.db$/)])
  })

  it('G7 a restore without room changes nothing and leaves nothing behind', async () => {
    store = await openStateStore({ file })
    await store.writeFleet(hosts(0, 2_000))
    const outside = await mkdtemp(join(tmpdir(), 'pilotlight-backup-'))
    const backup = join(outside, 'backup.db')
    await store.backup(backup)
    await store.writeFleet({ changes: [{ remove: 'record', kind: 'host', name: 'n0' }], audit: [] })
    await fillUp()
    await expect(store.restore(backup)).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect((await store.loadFleet()).records).toHaveLength(1_999)
    expect((await readdir(disk)).filter((name) => name.includes('restore'))).toEqual([])
    await unlink(filler())
    await store.restore(backup)
    expect((await store.loadFleet()).records).toHaveLength(2_000)
    await rm(outside, { recursive: true })
  })
})
