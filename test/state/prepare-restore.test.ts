import { execFileSync } from 'node:child_process'
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqlStore } from '../../src/state/create-sql-store.ts'
import { migrate } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import { prepareRestore } from '../../src/state/prepare-restore.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateTables } from '../../src/state/tables.ts'
import { makePin, makeStoredRecord } from '../fakes/stored-fleet.ts'

let directory: string
let file: string
let copy: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-restore-'))
  file = join(directory, 'backup.db')
  copy = join(directory, 'state.db.restore-1')
})
afterEach(() => rm(directory, { recursive: true }))

const names = Array.from({ length: 500 }, (_, index) => `n${index}`)

async function makeBackup(
  change: (db: Kysely<StateTables>) => Promise<unknown> = async () => {},
  upTo = migrations.length,
): Promise<void> {
  const db = openSqlite<StateTables>(file)
  await migrate(db, migrations.slice(0, upTo))
  if (upTo === migrations.length)
    await createSqlStore({ db }).writeFleet({
      changes: [
        ...names.map((name) => ({ put: 'record', record: makeStoredRecord({ name }) }) as const),
        { put: 'setting', setting: makePin() },
      ],
      audit: [],
    })
  await change(db)
  // One file and nothing beside it, as a backup is.
  await sql`PRAGMA journal_mode=DELETE`.execute(db)
  await sql`VACUUM`.execute(db)
  await db.destroy()
}

describe('a backup that is to be restored', () => {
  it('is read from a private copy, and itself stays as it is', async () => {
    await makeBackup()
    const before = await readFile(file)
    await prepareRestore({ file, copy })
    expect((await stat(copy)).mode & 0o777).toBe(0o600)
    expect(await readFile(file)).toEqual(before)
    expect((await readdir(directory)).sort()).toEqual(['backup.db', 'state.db.restore-1'])
  })

  it('of an older version is brought up to date in the copy alone', async () => {
    await makeBackup((db) => sql`insert into derived values ('a', 'b', 'gunzip', 1)`.execute(db), 4)
    const before = await readFile(file)
    const store = await openStateStore({ file: join(directory, 'state.db') })
    expect(await store.restore(file)).toMatchObject({ records: 0, pinnedReleases: 0 })
    await store.close()
    expect(await readFile(file)).toEqual(before)
  })

  it.each<[string, string, (db: Kysely<StateTables>) => Promise<unknown>]>([
    [
      'a setting that cannot be read',
      'arch is "z80"',
      (db) => sql`update run_time_setting set arch = 'z80'`.execute(db),
    ],
    [
      'a trigger',
      'its schema is not',
      (db) => sql`create trigger t after insert on install begin select 1; end`.execute(db),
    ],
    ['a view', 'its schema is not', (db) => sql`create view v as select 1`.execute(db)],
    ['a table less', 'its schema is not', (db) => sql`drop table secret`.execute(db)],
    [
      'another meaning of a table',
      'its schema is not',
      (db) => sql`alter table install add column x`.execute(db),
    ],
    ['no version', 'it is a database of something else', (db) => sql`drop table schema_version`.execute(db)],
  ])('with %s is refused', async (_, why, change) => {
    await makeBackup(change)
    await expect(prepareRestore({ file, copy })).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: expect.stringContaining(why),
    })
    expect(await readdir(directory)).toEqual(['backup.db'])
  })

  it('of a newer version is refused', async () => {
    await makeBackup((db) => migrate(db, [...migrations, { name: '9999-next', up: async () => {} }]))
    await expect(prepareRestore({ file, copy })).rejects.toMatchObject({ code: 'STATE_NEWER_VERSION' })
    expect(await readdir(directory)).toEqual(['backup.db'])
  })

  it.each([
    ['in the middle', (size: number) => size / 2],
    ['in its first page', () => 100],
    ['in its first bytes', () => 0],
  ])('that is damaged %s is refused', async (_, positionIn) => {
    await makeBackup()
    const handle = await open(file, 'r+')
    const { size } = await handle.stat()
    const damage = Buffer.alloc(Math.trunc(size / 4), 0x5a)
    await handle.write(damage, 0, damage.length, Math.trunc(positionIn(size)))
    await handle.close()
    await expect(prepareRestore({ file, copy })).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: expect.stringContaining('nothing was changed'),
    })
    expect(await readdir(directory)).toEqual(['backup.db'])
  })

  it('that was cut off is refused', async () => {
    await makeBackup()
    await writeFile(file, (await readFile(file)).subarray(0, 20_000))
    await expect(prepareRestore({ file, copy })).rejects.toMatchObject({ code: 'BACKUP_INVALID' })
  })

  it.each([
    ['a directory', async () => directory],
    [
      'a pipe that nobody writes into',
      async () => {
        execFileSync('mkfifo', [join(directory, 'pipe')])
        return join(directory, 'pipe')
      },
    ],
  ])('that is %s is refused at once', async (_, make) => {
    const path = await make()
    await expect(prepareRestore({ file: path, copy })).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: `${path} cannot be restored: it is no regular file; nothing was changed`,
    })
  })

  it('G7 leaves no copy behind, not even after a crash in the middle', async () => {
    await makeBackup()
    const state = join(directory, 'state.db')
    await writeFile(`${state}.restore-5`, 'left by a crash')
    await writeFile(`${state}.restore-5-wal`, 'this too')
    const store = await openStateStore({ file: state })
    await store.restore(file)
    expect((await store.loadFleet()).settings).toEqual([makePin()])
    await store.close()
    expect((await readdir(directory)).sort()).toEqual(['backup.db', 'state.db'])
  })
})
