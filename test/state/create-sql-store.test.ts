import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attemptWrite } from '../../src/state/attempt-rows.ts'
import { createSqlStore } from '../../src/state/create-sql-store.ts'
import { migrate } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import type { UnreadableRows } from '../../src/state/readable-rows.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateTables } from '../../src/state/tables.ts'
import { describeStateStore, makeDocument } from '../contracts/state-store.ts'
import { makeBootimage, makeRecord, sha256Of, someIdentity } from '../fakes/bootimages.ts'
import { createBrokenStore } from '../fakes/broken-store.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { makeAttempt } from '../fakes/stored-attempts.ts'
import { makeBootId } from '../fakes/stored-fleet.ts'

describeStateStore('in memory', async () => ({ store: createMemoryStore() }))

describeStateStore('SQL in a thread of its own', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
  const file = join(directory, 'state.db')
  const store = await openStateStore({ file })
  return { store, cleanUp: () => rm(directory, { recursive: true }) }
})

describe('the broken store', () => {
  it('fails in everything that a store can do, except in closing', async () => {
    const broken: Record<string, unknown> = { ...createBrokenStore() }
    expect(Object.keys(broken).sort()).toEqual(Object.keys(createMemoryStore()).sort())
    for (const [name, method] of Object.entries(broken)) {
      const call = (method as () => Promise<unknown>)()
      if (name === 'close') await call
      else await expect(call, name).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    }
  })
})

describe('the SQL store on a bad day', () => {
  let directory: string
  let file: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
    file = join(directory, 'state.db')
  })
  afterEach(() => rm(directory, { recursive: true }))

  async function withDatabase<T>(run: (db: Kysely<StateTables>) => Promise<T>): Promise<T> {
    const db = openSqlite<StateTables>(file)
    try {
      return await run(db)
    } finally {
      await db.destroy()
    }
  }

  it('G7 what was acknowledged is there after a restart', async () => {
    const before = await openStateStore({ file })
    const bootimage = makeBootimage()
    await before.recordRefresh({
      document: makeDocument(),
      bootimages: [makeRecord(bootimage, 'queued')],
      heads: [{ stream: 'fcos-stable', arch: 'x86_64', target: bootimage.id, previous: [] }],
    })
    await before.close()

    const after = await openStateStore({ file })
    expect(await after.listDocuments()).toEqual([makeDocument()])
    expect(await after.listBootimages()).toHaveLength(1)
    expect(await after.listHeads()).toMatchObject([{ target: bootimage.id }])
    await after.close()
  })

  it('G7 every commit is synced', async () => {
    await withDatabase(async (db) => {
      const { rows } = await sql<{ synchronous: number }>`PRAGMA synchronous`.execute(db)
      const mode = await sql<{ journal_mode: string }>`PRAGMA journal_mode`.execute(db)
      expect(rows).toEqual([{ synchronous: 2 }])
      expect(mode.rows).toEqual([{ journal_mode: 'wal' }])
    })
  })

  it('a full disk fails the write with its step, changes nothing, and reading goes on', async () => {
    await withDatabase(async (db) => {
      await migrate(db)
      const store = createSqlStore({ db })
      const bootimage = makeBootimage()
      await store.addBootimage(makeRecord(bootimage, 'known'))
      await sql`PRAGMA max_page_count=1`.execute(db)
      const many = Array.from({ length: 500 }, (_, index) =>
        makeRecord(makeBootimage({ release: `45.${index}` }), 'known'),
      )
      await expect(
        store.recordRefresh({
          document: makeDocument(),
          bootimages: many,
          heads: [{ stream: 'fcos-stable', arch: 'x86_64', current: bootimage.id, previous: [] }],
        }),
      ).rejects.toMatchObject({
        code: 'STATE_UNAVAILABLE',
        message: 'recording a refresh: database or disk is full',
        details: { step: 'recording a refresh', sqliteCode: 'SQLITE_FULL' },
      })
      expect(await store.listBootimages()).toHaveLength(1)
      expect(await store.listHeads()).toEqual([])
      expect(await store.listDocuments()).toEqual([])

      await sql`PRAGMA max_page_count=1000000`.execute(db)
      await store.recordRefresh({ document: makeDocument(), bootimages: many, heads: [] })
      expect(await store.listBootimages()).toHaveLength(501)
    })
  })

  it('another program that holds the database makes a write fail, not hang', async () => {
    await withDatabase(migrate)
    const db = openSqlite<StateTables>(file, { waitMs: 0 })
    const store = createSqlStore({ db })
    await withDatabase(async (other) => {
      await sql`BEGIN IMMEDIATE`.execute(other)
      await expect(store.recordDocument(makeDocument())).rejects.toMatchObject({
        code: 'STATE_UNAVAILABLE',
        details: { sqliteCode: 'SQLITE_BUSY' },
      })
      expect(await store.listDocuments()).toEqual([])
      await sql`ROLLBACK`.execute(other)
    })
    await store.recordDocument(makeDocument())
    expect(await store.listDocuments()).toHaveLength(1)
    await store.close()
  })

  it('after a clean end the database file is all there is: a copy of it alone has everything', async () => {
    const store = await openStateStore({ file })
    await store.recordDocument(makeDocument())
    await store.close()
    expect((await stat(`${file}-wal`).catch(() => ({ size: 0 }))).size).toBe(0)
    const copy = `${file}.copy`
    await copyFile(file, copy)
    const again = await openStateStore({ file: copy })
    expect(await again.listDocuments()).toHaveLength(1)
    await again.close()
  })

  it('a file that is no database is named, with what to do', async () => {
    await writeFile(file, 'not a database '.repeat(1000))
    await expect(openStateStore({ file })).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: `opening the state database ${file}: file is not a database; restore it from a backup together with the -wal file of the same moment, or move the database, its -wal and its -shm away and start with an empty one (artifacts stay)`,
      details: { file },
    })
  })

  it('a database of a newer version is refused as it is', async () => {
    await withDatabase((db) => migrate(db, [...migrations, { name: '9999-next', up: async () => {} }]))
    await expect(openStateStore({ file })).rejects.toMatchObject({ code: 'STATE_NEWER_VERSION' })
    await withDatabase(async (db) => {
      const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db)
      expect(rows.at(-1)).toEqual({ version: migrations.length + 1 })
    })
  })

  it('a missing directory is an error of the opening', async () => {
    const absent = join(directory, 'absent', 'state.db')
    await expect(openStateStore({ file: absent })).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      details: { step: `opening the state database ${absent}` },
    })
  })

  it('an empty file is a new database', async () => {
    await writeFile(file, '')
    const store = await openStateStore({ file })
    expect(await store.listHeads()).toEqual([])
    await store.close()
  })

  it.each([
    ['a bootimage that is not JSON', { bootimage: '{' }, /bootimage is not JSON/],
    ['a bootimage without a kernel', { bootimage: '{"id":"x"}' }, /stream is not text/],
    ['a state of another version', { state: 'levitating' }, /state is "levitating"/],
    ['a failure without a code', { failure: '{}' }, /code is not text/],
    ['a document that is no digest', { document: 'abc' }, /document is not a SHA-256/],
  ])('G7 %s is moved aside and told of, and the others are read', async (_, change, message) => {
    await withDatabase(async (db) => {
      await migrate(db)
      const told: UnreadableRows[] = []
      const store = createSqlStore({ db, onUnreadable: (rows) => told.push(rows) })
      const [bad, good] = [makeBootimage(), makeBootimage({ release: '45.1' })]
      for (const bootimage of [bad, good]) await store.addBootimage(makeRecord(bootimage, 'ready'))
      await db.updateTable('bootimage').set(change).where('id', '=', bad.id).execute()
      expect((await store.listBootimages()).map(({ bootimage }) => bootimage.id)).toEqual([good.id])
      expect(told).toEqual([
        { table: 'bootimage', count: 1, example: expect.stringContaining(`id "${bad.id}": `) },
      ])
      expect(told[0]?.example).toMatch(message)
      const [aside] = await db.selectFrom('unreadable_row').selectAll().execute()
      expect(JSON.parse(aside?.row_json ?? '')).toMatchObject({ id: bad.id, ...change })

      // It does not stand in the way of the same set, and is told of once.
      expect(await store.addBootimage(makeRecord(bad, 'queued'))).toMatchObject({ state: 'queued' })
      expect(await store.listBootimages()).toHaveLength(2)
      expect(told).toHaveLength(1)
    })
  })

  it('every field of a stored bootimage is looked at', async () => {
    await withDatabase(async (db) => {
      await migrate(db)
      const store = createSqlStore({ db })
      const bootimage = makeBootimage()
      const optional = new Set(['rootfs'])
      for (const field of Object.keys(bootimage)) {
        for (const value of [undefined, null, 7, [], {}, '']) {
          if (value === undefined && optional.has(field)) continue
          const json = JSON.stringify({ ...bootimage, [field]: value })
          if (field === 'disks' && json.includes('"disks":[]')) continue
          await store.addBootimage(makeRecord(bootimage, 'ready'))
          await db.updateTable('bootimage').set({ bootimage: json }).execute()
          expect(await store.listBootimages(), `${field} = ${JSON.stringify(value)}`).toEqual([])
        }
      }
    })
  })

  it.each([
    ['document', 'listDocuments', { format: 'stone' }],
    ['document', 'listDocuments', { first_seen_at: 'yesterday' }],
    ['stream_head', 'listHeads', { previous_bootimages: '[7]' }],
    ['stream_head', 'listHeads', { arch: 'z80' }],
    ['derived', 'listDerived', { how: 'magic' }],
    ['pin_resolution', 'listPinResolutions', { resolved_at: 'never' }],
    ['verified_file', 'listVerified', { identity: 'whatever' }],
    ['verified_file', 'listVerified', { signature_sha256: 'abc', signature_identity: '1:2:3:4' }],
  ] as const)('G7 a row of %s that is none does not stop %s', async (table, list, change) => {
    await withDatabase(async (db) => {
      await migrate(db)
      const told: UnreadableRows[] = []
      const store = createSqlStore({ db, onUnreadable: (rows) => told.push(rows) })
      await store.recordDocument(makeDocument())
      await store.saveHead({ stream: 's', arch: 'x86_64', previous: [] })
      await store.addDerived({ sha256: sha256Of('a'), from: sha256Of('b'), how: 'gunzip', at: 1 })
      const { id } = makeBootimage()
      await store.savePinResolution({
        stream: 's',
        arch: 'x86_64',
        release: '1',
        bootimage: id,
        resolvedAt: 1,
      })
      await store.saveVerified({ sha256: sha256Of('a'), identity: someIdentity, verifiedAt: 1 })
      await db
        .updateTable(table)
        .set(change as never)
        .execute()
      expect(await store[list]()).toEqual([])
      expect(told).toMatchObject([{ table, count: 1 }])
      expect(await store[list]()).toEqual([])
      expect(told).toHaveLength(1)
    })
  })

  it.each([
    ['events', '{'],
    ['events', '{}'],
    ['events', '[{"event":{"type":"levitated","at":1},"count":1,"lastAt":1}]'],
    ['events', '[{"event":{"type":"diagnosed","at":1,"code":"overdue","text":"x"}}]'],
    ['mac', 'none'],
    ['boot_id', 'short'],
    ['outcome', 'levitated'],
    ['diagnosis', '{"code":"bewitched"}'],
    ['started_at', 'yesterday'],
    ['left_out', 'some'],
  ])(
    'G7 a boot whose %s is %s is moved aside and told of, and the others are read',
    async (column, value) => {
      await withDatabase(async (db) => {
        await migrate(db)
        const told: UnreadableRows[] = []
        const store = createSqlStore({ db, onUnreadable: (rows) => told.push(rows) })
        await store.keepAttempts([makeAttempt(1), makeAttempt(2)].map(attemptWrite))
        await db
          .updateTable('boot_timeline')
          .set({ [column]: value })
          .where('id', '=', makeAttempt(1).id)
          .execute()
        expect(await store.listAttempts({ limit: 10 })).toEqual([makeAttempt(2)])
        expect(told).toMatchObject([{ table: 'boot_timeline', count: 1 }])
        expect(await store.listAttempts({ limit: 10 })).toHaveLength(1)
        expect(told).toHaveLength(1)
        expect(await store.countAttempts({})).toBe(1)
      })
    },
  )

  it('G7 boot attempts that are none are passed over, and none of them is leased for ever', async () => {
    await withDatabase(async (db) => {
      await migrate(db)
      const told: UnreadableRows[] = []
      const store = createSqlStore({ db, onUnreadable: (rows) => told.push(rows) })
      const row = { host: null, mac: null, bootimage: 'b', started_at: 5, last_seen_at: 5 }
      const rows = [
        { ...row, boot_id: makeBootId(1), mac: 'no address', host: Buffer.from('x') },
        { ...row, boot_id: 'short' },
        { ...row, boot_id: makeBootId(2), last_seen_at: 'soon' },
        { ...row, boot_id: makeBootId(3), bootimage: Buffer.from('b') },
      ]
      for (const values of rows) {
        await db
          .insertInto('boot_attempt')
          .values(values as never)
          .execute()
      }
      const found = await store.listBootLeases({ lastSeenAfter: 0, limit: 10 })
      expect(found).toEqual([{ bootId: makeBootId(1), bootimage: 'b', startedAt: 5, lastSeenAt: 5 }])
      expect(told).toMatchObject([{ table: 'boot_attempt', count: 3 }])
      expect(await store.listBootimageLeases({ lastSeenAfter: 0 })).toContainEqual({
        bootimage: 'b',
        lastSeenAt: 5,
      })
      await store.trimBootLeases({ lastSeenBefore: 6, keep: 10, most: 10 })
      expect(await db.selectFrom('boot_attempt').selectAll().execute()).toEqual([])
      expect(await store.listBootimageLeases({ lastSeenAfter: 0 })).toEqual([])
    })
  })

  it.each([
    // libsql would end the process
    [true, 'a boolean cannot be a SQL value'],
    [{}, 'a object cannot be a SQL value'],
    [Number.NaN, 'a number cannot be a SQL value'],
    // libsql would cut it in silence
    ['stable\u0000evil', 'text with a NUL character cannot be stored'],
  ])('%j is refused instead of trusted to the driver', async (label, message) => {
    await withDatabase(async (db) => {
      await migrate(db)
      const store = createSqlStore({ db })
      const document = makeDocument({ label: label as string })
      await expect(store.recordDocument(document)).rejects.toMatchObject({
        code: 'STATE_UNAVAILABLE',
        message: `recording a document: ${message}`,
      })
      expect(await store.listDocuments()).toEqual([])
    })
  })
})

describe('migrations', () => {
  let directory: string
  let db: Kysely<StateTables>
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
    db = openSqlite(join(directory, 'state.db'))
  })
  afterEach(async () => {
    await db.destroy()
    await rm(directory, { recursive: true })
  })

  it('run once, in order', async () => {
    expect(await migrate(db)).toEqual(migrations.map(({ name }) => name))
    expect(await migrate(db)).toEqual([])
  })

  it('are numbered without a gap', () => {
    const numbers = migrations.map(({ name }) => Number(name.slice(0, 4)))
    expect(numbers).toEqual(migrations.map((_, index) => index + 1))
  })

  it('one that fails leaves the database as it was', async () => {
    const bad = {
      name: '9999-bad',
      async up(transaction: Kysely<unknown>) {
        await transaction.schema.createTable('half').addColumn('a', 'text').execute()
        throw new Error('the disk is on fire')
      },
    }
    await expect(migrate(db, [...migrations, bad])).rejects.toThrow('the disk is on fire')
    const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
      db,
    )
    expect(tables.rows).toEqual([])
    expect(await migrate(db)).toHaveLength(migrations.length)
  })

  it('a later one builds on what is there', async () => {
    await migrate(db)
    await createSqlStore({ db }).recordDocument(makeDocument({ digest: sha256Of('kept') }))
    const next = {
      name: '9999-next',
      async up(transaction: Kysely<unknown>) {
        await transaction.schema.alterTable('document').addColumn('etag', 'text').execute()
      },
    }
    expect(await migrate(db, [...migrations, next])).toEqual(['9999-next'])
    expect(await db.selectFrom('document').selectAll().execute()).toMatchObject([{ etag: null }])
  })

  it('a database from a newer version is refused with what to do', async () => {
    const newer = [...migrations, { name: '9999-next', up: async () => {} }]
    await migrate(db, newer)
    await expect(migrate(db)).rejects.toMatchObject({
      code: 'STATE_NEWER_VERSION',
      message: `the state database has schema version ${migrations.length + 1}, this program knows versions up to ${migrations.length}: run the newer program again, or give this one a data directory of its own`,
      details: { found: migrations.length + 1, known: migrations.length },
    })
  })
})
