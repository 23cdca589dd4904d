import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FleetChange } from '../../src/core/fleet.ts'
import { createSqlStore, type SqlStore } from '../../src/state/create-sql-store.ts'
import { migrate } from '../../src/state/migrate.ts'
import type { UnreadableRows } from '../../src/state/readable-rows.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateTables } from '../../src/state/tables.ts'
import {
  makeAudit,
  makeInstall,
  makePin,
  makeReport,
  makeSeen,
  makeStoredRecord,
  makeToken,
} from '../fakes/stored-fleet.ts'

let directory: string
let db: Kysely<StateTables>
let store: SqlStore
let told: UnreadableRows[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-state-'))
  db = openSqlite<StateTables>(join(directory, 'state.db'))
  await migrate(db)
  told = []
  store = createSqlStore({ db, onUnreadable: (rows) => told.push(rows) })
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

const said: readonly FleetChange[] = [
  { put: 'record', record: makeStoredRecord() },
  { put: 'setting', setting: makePin({ arch: 'x86_64' }) },
  {
    put: 'setting',
    setting: { kind: 'mode', target: { kind: 'group', name: 'edge' }, mode: 'hold', by: 'a', at: 1 },
  },
  { put: 'install', install: makeInstall({ state: 'installed' }) },
  { put: 'token', token: makeToken() },
  { put: 'revocation', revocation: { host: 'rack1-n01', before: 1 } },
  { put: 'report', report: makeReport(1) },
]

describe('a row of what an admin said that is none', () => {
  it.each([
    ['fleet_record', { kind: 'rack' }, 'kind "rack", name "rack1-n01": kind is "rack"'],
    ['fleet_record', { spec: '[]' }, 'kind "host", name "rack1-n01": spec is not an object'],
    ['fleet_record', { revision: 'two' }, 'kind "host", name "rack1-n01": revision is not a number'],
    ['run_time_setting', { kind: 'spell' }, 'id "mode/group/edge": kind is "spell"'],
    ['run_time_setting', { arch: 'z80' }, 'id "pin/host/rack1-n01/x86_64": arch is "z80"'],
    ['run_time_setting', { arch: null }, 'id "pin/host/rack1-n01/x86_64": id is that of another setting'],
    ['run_time_setting', { mode: 'install' }, 'id "mode/group/edge": mode is "install"'],
    ['run_time_setting', { target_name: 'n9' }, 'id "mode/group/edge": id is that of another setting'],
    ['run_time_setting', { macs: '["x"]' }, 'id "mode/group/edge": macs holds "x"'],
    ['run_time_setting', { until: 'soon' }, 'id "mode/group/edge": until is not a number'],
    ['install', { state: 'maybe' }, 'host "rack1-n01": state is "maybe"'],
    ['install', { generation: 'two' }, 'host "rack1-n01": generation is not a number'],
    ['install', { failure: '{"at":1,"bootId":"x"}' }, 'host "rack1-n01": failure names the boot "x"'],
    ['boot_token_revocation', { revoked_before: 'x' }, 'host "rack1-n01": revoked_before is not a number'],
  ] as const)('G5 of %s with %j: is not passed over, with what to do', async (table, change, message) => {
    await store.writeFleet({ changes: said, audit: [] })
    const rows = (db as unknown as Kysely<Record<string, Record<string, unknown>>>).updateTable(table)
    await (table === 'run_time_setting' && 'arch' in change ? rows.where('kind', '=', 'pin') : rows)
      .set(change)
      .execute()
    await expect(store.loadFleet()).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: expect.stringContaining(
        `table ${table}, ${message}; correct the row in state.db, restore a backup, or delete the row (`,
      ),
      details: { table },
    })
    expect(told).toEqual([])
    expect(await db.selectFrom('unreadable_row').selectAll().execute()).toEqual([])
  })

  it('that is an API token lets nobody in: it is set aside and told of', async () => {
    await store.writeFleet({ changes: said, audit: [] })
    await db.updateTable('api_token').set({ role: 'king' }).execute()
    expect(await store.loadFleet()).toMatchObject({ tokens: [], records: [{ name: 'rack1-n01' }] })
    expect(told).toMatchObject([
      { table: 'api_token', count: 1, example: 'id "AAAAbbbb0000": role is "king"' },
    ])
    expect(await db.selectFrom('api_token').selectAll().execute()).toEqual([])
  })
})

describe('a row of what happened that is none', () => {
  it.each([
    ['audit_entry', { via: 'telepathy' }, () => store.listAudit({ limit: 9 })],
    ['audit_entry', { at: 'noon' }, () => store.listAudit({ limit: 9 })],
    ['node_report', { status: 'fine' }, () => store.listReports({ limit: 9 })],
    ['node_report', { boot_id: 'short' }, () => store.listReports({ limit: 9 })],
    ['node_report', { mac: 'x' }, () => store.listReports({ limit: 9 })],
  ] as const)('G7 of %s with %j is moved aside and told of', async (table, change, list) => {
    await store.writeFleet({ changes: said, audit: [makeAudit()] })
    await db
      .updateTable(table)
      .set(change as never)
      .execute()
    expect(await list()).toMatchObject({ items: [] })
    expect(told).toMatchObject([{ table, count: 1 }])
    expect(await list()).toEqual({ items: [], total: 0 })
    expect(told).toHaveLength(1)
  })

  it.each([{ mac: 'x' }, { arch: 'z80' }, { last_seen_at: 'now' }])(
    'G7 of a seen machine with %j is moved aside and told of',
    async (change) => {
      await store.saveSeenMachines([makeSeen(1)])
      await db
        .updateTable('seen_machine')
        .set(change as never)
        .execute()
      expect(await store.listSeenMachines({ limit: 9 })).toEqual([])
      expect(told).toMatchObject([{ table: 'seen_machine', count: 1 }])
    },
  )

  it('a secret that cannot be read is made anew, and what it was is not told', async () => {
    await store.keepSecret('boot-tokens', new Uint8Array([1, 2, 3]))
    await db.updateTable('secret').set({ value: 'not base64' }).execute()
    const made = new Uint8Array([4])
    expect(await store.keepSecret('boot-tokens', made)).toEqual(made)
    expect(told).toEqual([{ table: 'secret', count: 1, example: 'name "boot-tokens": value is not base64' }])
    expect(await store.keepSecret('boot-tokens', new Uint8Array([5]))).toEqual(made)
  })
})

describe('a change that cannot be kept', () => {
  it.each<[string, FleetChange]>([
    ['spec is not an object', { put: 'record', record: makeStoredRecord({ spec: [] as never }) }],
    ['name is not text', { put: 'record', record: makeStoredRecord({ name: '' }) }],
    ['release_version is not text', { put: 'setting', setting: makePin({ release: '' }) }],
    ['until is not a number', { put: 'setting', setting: makePin({ until: Number.NaN }) }],
    ['serves is not a number', { put: 'install', install: makeInstall({ serves: Number.NaN }) }],
    ['hash is not text', { put: 'token', token: makeToken({ hash: '' }) }],
    ['host is not text', { put: 'revocation', revocation: { host: '', before: 1 } }],
    ['status is "fine"', { put: 'report', report: makeReport(1, { status: 'fine' as never }) }],
    [
      'text with a NUL character cannot be stored',
      { put: 'record', record: makeStoredRecord({ name: 'a\0b' }) },
    ],
  ])('G7 because %s is refused whole, before the next start has to', async (message, change) => {
    await expect(
      store.writeFleet({ changes: [...said, change], audit: [makeAudit()] }),
    ).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', message: `writing a change: ${message}` })
    expect(await store.loadFleet()).toMatchObject({ records: [], settings: [], installs: [], tokens: [] })
    expect(await store.listAudit({ limit: 9 })).toEqual({ items: [], total: 0 })
  })

  it('G7 on a full disk is refused whole, and what was said before stands', async () => {
    await store.writeFleet({ changes: said, audit: [makeAudit()] })
    const before = await store.loadFleet()
    await sql`PRAGMA max_page_count=1`.execute(db)
    const names = Array.from({ length: 500 }, (_, index) => `n${index}`)
    await expect(
      store.writeFleet({
        changes: [
          { remove: 'setting', id: 'mode/group/edge' },
          ...names.map((name) => ({ put: 'record', record: makeStoredRecord({ name }) }) as const),
        ],
        audit: [makeAudit()],
      }),
    ).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', details: { sqliteCode: 'SQLITE_FULL' } })
    expect(await store.loadFleet()).toEqual(before)
    expect(await store.listAudit({ limit: 9 })).toMatchObject({ total: 1 })
  })
})
