import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate, schemaVersion } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openDatabase } from '../../src/state/open-database.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateTables } from '../../src/state/tables.ts'

const now = Date.UTC(2026, 10, 30, 1, 2, 3)

let directory: string
let file: string
let backups: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
  file = join(directory, 'state.db')
  backups = join(directory, 'backups')
})
afterEach(() => rm(directory, { recursive: true }))

async function withDatabase<T>(path: string, run: (db: Kysely<StateTables>) => Promise<T>): Promise<T> {
  const db = openSqlite<StateTables>(path)
  try {
    return await run(db)
  } finally {
    await db.destroy()
  }
}

/** A database as version 4 left it, with something in it. */
const makeOld = (path = file) =>
  withDatabase(path, async (db) => {
    await migrate(db, migrations.slice(0, 4))
    await sql`insert into derived values ('a', 'b', 'gunzip', 1)`.execute(db)
    await sql`insert into install values ('n01', 2, 'armed', 1)`.execute(db)
  })

async function open(at = now) {
  const { db, update } = await openDatabase({ file, backups, now: at })
  await db.destroy()
  return update
}

describe('a database that an earlier version has left', () => {
  it('G7 is copied, for this user alone, before it is changed', async () => {
    await makeOld()
    const backup = join(backups, 'state-v4-20261130T010203Z.db')
    expect(await open()).toEqual({
      migrations: ['0005-fleet', '0006-install-marks', '0007-boot-addresses', '0008-boot-timeline'],
      backup,
    })
    expect((await stat(backups)).mode & 0o777).toBe(0o700)
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    await withDatabase(backup, async (db) => {
      expect(await schemaVersion(db)).toBe(4)
      expect((await sql`select generation from install`.execute(db)).rows).toEqual([{ generation: 2 }])
    })
    await withDatabase(file, async (db) => {
      expect(await schemaVersion(db)).toBe(migrations.length)
      expect(await db.selectFrom('derived').selectAll().execute()).toHaveLength(1)
    })
    expect(await open()).toBeUndefined()
  })

  it('is copied under a name of its own, and of the copies the newest three are kept', async () => {
    await mkdir(backups)
    await writeFile(join(backups, 'mine.db'), 'an admin put it here')
    await writeFile(join(backups, 'state-v4-20261130T010203Z.db.partial-0a'), 'cut off by a kill')
    for (const at of [now, now, now + 1000, now + 2000, now + 2000]) {
      await rm(file, { force: true })
      await makeOld()
      await open(at)
    }
    expect((await readdir(backups)).sort()).toEqual([
      'mine.db',
      'state-v4-20261130T010204Z.db',
      'state-v4-20261130T010205Z-2.db',
      'state-v4-20261130T010205Z.db',
    ])
  })

  it('G7 that cannot be copied is not changed either, and it is said what to do', async () => {
    await makeOld()
    await writeFile(backups, 'in the way')
    await expect(open()).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: expect.stringMatching(
        /of version 4 .* no copy of it could be made first: .*nothing was changed/,
      ),
      details: { directory: backups, version: 4 },
    })
    expect(await withDatabase(file, schemaVersion)).toBe(4)
    await rm(backups)
    expect(await open()).toMatchObject({
      migrations: ['0005-fleet', '0006-install-marks', '0007-boot-addresses', '0008-boot-timeline'],
    })
  })
})

describe('other databases', () => {
  it('a new one and one of this version are opened without a copy', async () => {
    expect(await open()).toBeUndefined()
    expect(await open()).toBeUndefined()
    expect(await readdir(directory)).not.toContain('backups')
  })

  it('one of a newer version is refused as it is, and the backups of before are named', async () => {
    await makeOld()
    const update = await open()
    await withDatabase(file, (db) => migrate(db, [...migrations, { name: '9999-next', up: async () => {} }]))
    const version = migrations.length + 1
    await expect(open()).rejects.toMatchObject({
      code: 'STATE_NEWER_VERSION',
      message: `the state database has schema version ${version}, this program knows versions up to ${migrations.length}: run the newer program again, or give this one a data directory of its own, or put a backup that was made before an update in its place (what was changed since is lost): ${update?.backup}`,
      details: { backups: [update?.backup] },
    })
    expect(await withDatabase(file, schemaVersion)).toBe(version)
  })
})
