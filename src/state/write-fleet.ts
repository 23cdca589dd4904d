import { type Kysely, sql } from 'kysely'
import type { FleetChange, FleetWrite } from '../core/fleet.ts'
import {
  apiToken,
  installRecord,
  installRow,
  recordRow,
  revocation,
  revocationRow,
  runTimeSetting,
  settingRow,
  storedRecord,
  tokenRow,
} from './fleet-rows.ts'
import { auditEntry, auditRow, nodeReport, reportRow } from './history-rows.ts'
import type { StateTables } from './tables.ts'

/** Rows per statement: far below any database's limit of bound values. */
const rowsPerStatement = 200

/**
 * All of it or nothing, in its order. What could not be read again is not written: nothing is acknowledged that the
 * next start would refuse.
 * @throws TypeError naming the value that cannot be kept
 */
export async function writeFleet(
  db: Kysely<StateTables>,
  { changes, audit }: FleetWrite,
  checkTime: () => void = () => {},
): Promise<void> {
  if (changes.length === 0 && audit.length === 0) return
  await db.transaction().execute(async (transaction) => {
    for (const run of runsOf(changes)) await writeRun(transaction, run)
    for (let first = 0; first < audit.length; first += rowsPerStatement) {
      const rows = audit.slice(first, first + rowsPerStatement).map(auditRow)
      for (const row of rows) auditEntry({ ...row, id: 0 })
      await transaction.insertInto('audit_entry').values(rows).execute()
    }
    checkTime()
  })
}

type ChangeOf<Verb extends 'put' | 'remove', What> = Extract<FleetChange, Readonly<Record<Verb, What>>>

/** Changes of one kind that follow one another and so fit into one statement. */
function* runsOf(changes: readonly FleetChange[]): Generator<readonly [FleetChange, ...FleetChange[]]> {
  let run: [FleetChange, ...FleetChange[]] | undefined
  for (const change of changes) {
    if (run !== undefined && run.length < rowsPerStatement && kindOf(run[0]) === kindOf(change)) {
      run.push(change)
      continue
    }
    if (run !== undefined) yield run
    run = [change]
  }
  if (run !== undefined) yield run
}

function kindOf(change: FleetChange): string {
  if ('put' in change) return `put ${change.put}`
  return `remove ${change.remove}${change.remove === 'record' ? ` ${change.kind}` : ''}`
}

function writeRun(db: Kysely<StateTables>, run: readonly [FleetChange, ...FleetChange[]]): Promise<unknown> {
  const [first] = run
  return 'put' in first ? put(db, first.put, run) : remove(db, first, run)
}

function put(
  db: Kysely<StateTables>,
  what: Extract<FleetChange, { put: unknown }>['put'],
  run: readonly FleetChange[],
): Promise<unknown> {
  switch (what) {
    case 'record': {
      const rows = (run as ChangeOf<'put', 'record'>[]).map(({ record }) =>
        readable(recordRow(record), storedRecord),
      )
      return upsert(db, 'fleet_record', ['kind', 'name'], rows)
    }
    case 'setting': {
      const rows = (run as ChangeOf<'put', 'setting'>[]).map(({ setting }) =>
        readable(settingRow(setting), runTimeSetting),
      )
      return upsert(db, 'run_time_setting', ['id'], rows)
    }
    case 'install': {
      const rows = (run as ChangeOf<'put', 'install'>[]).map(({ install }) =>
        readable(installRow(install), installRecord),
      )
      return upsert(db, 'install', ['host'], rows)
    }
    case 'token': {
      const rows = (run as ChangeOf<'put', 'token'>[]).map(({ token }) => readable(tokenRow(token), apiToken))
      return upsert(db, 'api_token', ['id'], rows)
    }
    case 'revocation': {
      const rows = (run as ChangeOf<'put', 'revocation'>[]).map((change) =>
        readable(revocationRow(change.revocation), revocation),
      )
      return saveRevocations(db, rows)
    }
    case 'report': {
      const rows = (run as ChangeOf<'put', 'report'>[]).map(({ report }) =>
        readable(reportRow(report), nodeReport),
      )
      return db
        .insertInto('node_report')
        .values(rows)
        .onConflict((conflict) => conflict.columns(['boot_id', 'status']).doNothing())
        .execute()
    }
  }
}

function remove(
  db: Kysely<StateTables>,
  first: Extract<FleetChange, { remove: unknown }>,
  run: readonly FleetChange[],
): Promise<unknown> {
  switch (first.remove) {
    case 'record': {
      const names = (run as ChangeOf<'remove', 'record'>[]).map(({ name }) => name)
      return db.deleteFrom('fleet_record').where('kind', '=', first.kind).where('name', 'in', names).execute()
    }
    case 'setting': {
      const ids = (run as ChangeOf<'remove', 'setting'>[]).map(({ id }) => id)
      return db.deleteFrom('run_time_setting').where('id', 'in', ids).execute()
    }
    case 'install': {
      const hosts = (run as ChangeOf<'remove', 'install'>[]).map(({ host }) => host)
      return db.deleteFrom('install').where('host', 'in', hosts).execute()
    }
    case 'token': {
      const ids = (run as ChangeOf<'remove', 'token'>[]).map(({ id }) => id)
      return db.deleteFrom('api_token').where('id', 'in', ids).execute()
    }
  }
}

/** What was revoked stays revoked: the later time counts. */
export function saveRevocations(
  db: Kysely<StateTables>,
  rows: readonly StateTables['boot_token_revocation'][],
): Promise<unknown> {
  const later = sql<number>`max(excluded.revoked_before, boot_token_revocation.revoked_before)`
  return db
    .insertInto('boot_token_revocation')
    .values(rows)
    .onConflict((conflict) => conflict.column('host').doUpdateSet({ revoked_before: later }))
    .execute()
}

type AdminTable = 'fleet_record' | 'run_time_setting' | 'install' | 'api_token'

/** All rows have the same columns, and the last of those with the same key counts. */
export function upsert<Table extends AdminTable>(
  db: Kysely<StateTables>,
  table: Table,
  key: readonly string[],
  rows: readonly StateTables[Table][],
): Promise<unknown> {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => !key.includes(column))
  const replaced = Object.fromEntries(columns.map((column) => [column, sql.ref(`excluded.${column}`)]))
  // The caller's types hold; one statement for four tables is beyond those of the builder.
  return db
    .insertInto(table)
    .values(rows as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(replaced as never))
    .execute()
}

function readable<Row>(row: Row, read: (row: Row) => unknown): Row {
  read(row)
  return row
}
