import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FleetWrite } from '../../src/core/fleet.ts'
import { migrate } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateStore } from '../../src/state/store.ts'
import type { StateTables } from '../../src/state/tables.ts'
import { makeDocument } from '../contracts/state-store.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeAudit, makeStoredRecord } from '../fakes/stored-fleet.ts'

const oddThread = pathToFileURL(join(import.meta.dirname, '../fakes/odd-state-worker.mjs'))

let directory: string
let file: string
let store: StateStore | undefined
let log: ReturnType<typeof createRecordingLog>
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
  file = join(directory, 'state.db')
  log = createRecordingLog()
})
afterEach(async () => {
  await store?.close()
  store = undefined
  await rm(directory, { recursive: true })
})

async function open(options: { timeoutMs?: number; entry?: URL } = {}): Promise<StateStore> {
  store = await openStateStore({ file, log, ...options })
  return store
}

/** Another program, in this very thread: whoever waited here would wait for ever. */
async function lockWhile(run: (unlock: () => Promise<void>) => Promise<void>): Promise<void> {
  const other: Kysely<StateTables> = openSqlite(file, { waitMs: 0 })
  try {
    await sql`BEGIN EXCLUSIVE`.execute(other)
    await run(async () => {
      await sql`ROLLBACK`.execute(other)
    })
  } finally {
    await other.destroy()
  }
}

const change: FleetWrite = { changes: [{ put: 'record', record: makeStoredRecord() }], audit: [makeAudit()] }

describe('a database that somebody else holds', () => {
  it('G4 holds up the write alone, and it is done when the lock goes', async () => {
    const state = await open()
    await lockWhile(async (unlock) => {
      const write = state.writeFleet(change)
      await new Promise((resolve) => setImmediate(resolve))
      await unlock()
      await write
    })
    expect((await state.loadFleet()).records).toHaveLength(1)
  })

  it('G7 for too long: the change fails and is not made behind the back of whoever was told so', async () => {
    const state = await open({ timeoutMs: 40 })
    await lockWhile(async (unlock) => {
      const [first, second] = await Promise.allSettled([state.writeFleet(change), state.writeFleet(change)])
      for (const { reason } of [first, second] as PromiseRejectedResult[])
        expect(reason).toMatchObject({
          code: 'STATE_UNAVAILABLE',
          message:
            'writing a change: the state database did not answer within 0.04 s, it may still be written; look at its disk',
        })
      await unlock()
    })
    await store?.close()
    const again = await open()
    expect((await again.loadFleet()).records).toEqual([])
    expect(await again.listAudit({ limit: 9 })).toEqual({ items: [], total: 0 })
    await again.writeFleet(change)
    expect((await again.loadFleet()).records).toHaveLength(1)
  })
})

describe('the thread of the state', () => {
  it('that does not answer fails the call that waits, and the next goes on', async () => {
    const state = await open({ timeoutMs: 40, entry: oddThread })
    await expect(state.listDocuments({ stream: 'silent' })).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: 'listing documents: the state database did not answer within 0.04 s; look at its disk',
    })
    expect(await state.listDocuments({ stream: 'good' })).toEqual([])
    expect(log.lines).toEqual([])
  })

  it.each([
    ['dies', 'out of memory'],
    ['leaves', 'it ended with code 3'],
  ])('that %s fails whatever waits and whatever comes, and says so once', async (manner, why) => {
    const state = await open({ entry: oddThread })
    const silent = state.listDocuments({ stream: 'silent' })
    const failure = {
      code: 'STATE_UNAVAILABLE',
      message: expect.stringContaining(`the thread that holds the state has stopped (${why})`),
    }
    await Promise.all([
      expect(silent).rejects.toMatchObject(failure),
      expect(state.listDocuments({ stream: manner })).rejects.toMatchObject(failure),
    ])
    await expect(state.listHeads()).rejects.toMatchObject(failure)
    await expect(state.writeFleet(change)).rejects.toMatchObject(failure)
    expect(log.lines).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('nodes boot on'),
        fields: { file, reason: expect.stringContaining(why) },
      },
    ])
    await state.close()
  })

  it('that cannot be started is an error of the opening', async () => {
    await expect(
      openStateStore({ file, entry: pathToFileURL(join(directory, 'absent.mjs')) }),
    ).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
  })

  it('G7 that is told to close finishes first what it was asked before', async () => {
    const state = await open()
    const writes = Array.from({ length: 20 }, (_, index) =>
      state.recordDocument(makeDocument({ stream: `s${index}` })),
    )
    await state.close()
    await Promise.all(writes)
    expect(await (await open()).listDocuments()).toHaveLength(20)
  })

  it('tells of rows that cannot be read', async () => {
    const db: Kysely<StateTables> = openSqlite(file)
    await migrate(db)
    await db
      .insertInto('stream_head')
      .values({ stream: 's', arch: 'z80', previous_bootimages: '[]' } as never)
      .execute()
    await db.destroy()
    const state = await open()
    expect(await state.listHeads()).toEqual([])
    expect(log.lines).toMatchObject([{ level: 'error', fields: { table: 'stream_head', rows: 1 } }])
  })

  it('tells what it did to a database of an earlier version, and where its copy is', async () => {
    const db: Kysely<StateTables> = openSqlite(file)
    await migrate(db, migrations.slice(0, 4))
    await db.destroy()
    await open()
    const [name] = await readdir(join(directory, 'backups'))
    expect(log.lines).toMatchObject([
      {
        level: 'info',
        message: 'state database brought up to date, after a copy of it',
        fields: {
          file,
          migrations: ['0005-fleet', '0006-install-marks', '0007-boot-addresses', '0008-boot-timeline'],
          backup: join(directory, 'backups', name ?? ''),
        },
      },
    ])
  })
})
