import { type ExpressionBuilder, type Kysely, sql, type Transaction } from 'kysely'
import type { AttemptRecord } from '../core/boot-attempt.ts'
import type { BootId } from '../core/boot-event.ts'
import {
  type AttemptWrite,
  attemptHead,
  attemptRecord,
  headOf,
  joinedEvents,
  type ReadAttemptRow,
} from './attempt-rows.ts'
import type { RowReader } from './readable-rows.ts'
import type { AttemptFilter, StateStore } from './store.ts'
import type { AttemptRow, StateTables } from './tables.ts'

/** Rows per statement: far below any database's limit of bound values. */
const rowsPerStatement = 200

export async function saveAttempts(db: Kysely<StateTables>, writes: readonly AttemptWrite[]): Promise<void> {
  if (writes.length === 0) return
  await db.transaction().execute(async (transaction) => {
    for (let first = 0; first < writes.length; first += rowsPerStatement) {
      const rows: AttemptRow[] = []
      for (const write of writes.slice(first, first + rowsPerStatement)) {
        rows.push(write.isHead ? await joined(transaction, write.row) : write.row)
      }
      await transaction
        .insertInto('boot_timeline')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((eb) => ({
            host: eb.ref('excluded.host'),
            mac: eb.ref('excluded.mac'),
            boot_id: eb.ref('excluded.boot_id'),
            last_at: eb.ref('excluded.last_at'),
            outcome: eb.ref('excluded.outcome'),
            ended_at: eb.ref('excluded.ended_at'),
            pattern: eb.ref('excluded.pattern'),
            diagnosis: eb.ref('excluded.diagnosis'),
            left_out: eb.ref('excluded.left_out'),
            head: eb.ref('excluded.head'),
            events: eb.ref('excluded.events'),
          })),
        )
        .execute()
    }
    const cards = writes.flatMap(({ row, otherMacs }) => otherMacs.map((mac) => ({ mac, attempt: row.id })))
    for (let first = 0; first < cards.length; first += rowsPerStatement) {
      await transaction
        .insertInto('boot_timeline_card')
        .values(cards.slice(first, first + rowsPerStatement))
        .onConflict((conflict) => conflict.columns(['mac', 'attempt']).doNothing())
        .execute()
    }
    const ids = writes.flatMap(({ row, earlierBootIds }) =>
      earlierBootIds.map((boot_id) => ({ boot_id, attempt: row.id })),
    )
    for (let first = 0; first < ids.length; first += rowsPerStatement) {
      await transaction
        .insertInto('boot_timeline_id')
        .values(ids.slice(first, first + rowsPerStatement))
        .onConflict((conflict) => conflict.column('boot_id').doNothing())
        .execute()
    }
  })
}

/** In the order in which they were heard. */
const otherMacs = sql<string | null>`(
  select group_concat(mac, ' ') from (
    select mac from boot_timeline_card where attempt = boot_timeline.id order by rowid))`

/** Of an attempt whose events are not all in memory any more. */
async function joined(db: Transaction<StateTables>, row: AttemptRow): Promise<AttemptRow> {
  const kept = await db.selectFrom('boot_timeline').selectAll().where('id', '=', row.id).executeTakeFirst()
  if (kept === undefined) return row
  const events = joinedEvents(attemptRecord(kept).events, attemptRecord(row).events)
  return { ...row, events: JSON.stringify(events), head: JSON.stringify(headOf(events)) }
}

export async function listAttempts(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  { before, limit, ...filter }: Parameters<StateStore['listAttempts']>[0],
): Promise<readonly AttemptRecord[]> {
  let query = db
    .selectFrom('boot_timeline')
    .selectAll()
    .select(otherMacs.as('other_macs'))
    .where(matching(filter))
  if (before !== undefined) query = query.where('id', '<', before)
  const rows = await query.orderBy('id', 'desc').limit(wholeNumber(limit)).execute()
  return rowReader.read('boot_timeline', rows, attemptRecord)
}

export async function countAttempts(db: Kysely<StateTables>, filter: AttemptFilter): Promise<number> {
  const { total } = await db
    .selectFrom('boot_timeline')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(matching(filter))
    .executeTakeFirstOrThrow()
  return total
}

/**
 * The most telling condition is looked up in its index; those after it are checked row by row, which the `+` says
 * (SQLite, "The SQLite Query Optimizer Overview" §8). Left to itself, it looks for a host among all boots that failed.
 */
function matching({ id, bootId, host, mac, isOver, outcome, pattern, since }: AttemptFilter) {
  return (eb: ExpressionBuilder<StateTables, 'boot_timeline'>) => {
    const equal = Object.entries({ id, host, mac, pattern, outcome }).filter(
      ([, value]) => value !== undefined,
    )
    const [first, ...others] = equal.map(([name, value], place) => {
      const isLookedUp = bootId === undefined && place === 0
      const column = (of: string) => (isLookedUp ? sql.ref(of) : sql`+${sql.ref(of)}`)
      return name === 'mac'
        ? sql<boolean>`(${column('mac')} = ${value} or ${column('id')} in (
            select attempt from boot_timeline_card where mac = ${value}))`
        : sql<boolean>`${column(name)} = ${value}`
    })
    return eb.and([
      ...(bootId === undefined ? [] : [ofBootId(eb, bootId)]),
      ...(first === undefined ? [] : [first, ...others]),
      ...(isOver === undefined ? [] : [isOverOrNot(isOver, equal.length > 0)]),
      ...(since === undefined ? [] : [eb('id', '>=', firstIdAt(since))]),
    ])
  }
}

function isOverOrNot(isOver: boolean, isChecked: boolean) {
  if (isChecked) return isOver ? sql<boolean>`+outcome is not null` : sql<boolean>`+outcome is null`
  return isOver ? sql<boolean>`outcome is not null` : sql<boolean>`outcome is null`
}

function ofBootId(eb: ExpressionBuilder<StateTables, 'boot_timeline'>, bootId: BootId) {
  const attempts = eb
    .selectFrom('boot_timeline_id')
    .select('attempt')
    .where('boot_timeline_id.boot_id', '=', bootId)
  return eb.or([eb('boot_id', '=', bootId), eb('id', 'in', attempts)])
}

export async function listLastAttempts(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  { afterHost = '', limit }: Parameters<StateStore['listLastAttempts']>[0],
): Promise<readonly AttemptRecord[]> {
  // From host to host through an index, so that a million attempts cost no more than one for each host.
  const { rows } = await sql<Omit<ReadAttemptRow, 'events'>>`
    with recursive known (host) as (
      select min(host) from boot_timeline where host > ${afterHost}
      union all
      select (select min(next.host) from boot_timeline as next where next.host > known.host)
      from known where known.host is not null limit ${wholeNumber(limit)}
    )
    select id, host, mac, boot_id, started_at, last_at, outcome, ended_at, pattern, diagnosis, left_out, head,
      ${otherMacs} as other_macs
    from boot_timeline where id in (
      select (select max(last.id) from boot_timeline as last where last.host = known.host)
      from known where known.host is not null
    ) order by host`.execute(db)
  return rowReader.read('boot_timeline', rows, attemptHead)
}

/** Ids begin with the time of their start, so that they tell what is old. */
export async function trimAttempts(
  db: Kysely<StateTables>,
  { startedBefore, keep, keepStrangers, most }: Parameters<StateStore['trimAttempts']>[0],
): Promise<{ readonly removed: number }> {
  return db.transaction().execute(async (transaction) => {
    const old = await sql`
      delete from boot_timeline where id in (
        select id from boot_timeline where id < ${firstIdAt(startedBefore)} order by id limit ${most})`.execute(
      transaction,
    )
    let removed = Number(old.numAffectedRows ?? 0)
    for (const [whose, kept] of [
      [sql`host is null`, keepStrangers],
      [sql`host is not null`, keep],
    ] as const) {
      const excess = await sql`
        delete from boot_timeline where id in (
          select id from boot_timeline where ${whose} order by id
          limit min(max((select count(*) from boot_timeline where ${whose}) - ${kept}, 0), ${most}))`.execute(
        transaction,
      )
      removed += Number(excess.numAffectedRows ?? 0)
    }
    return { removed }
  })
}

/** No attempt that began at this time or later has a lesser id (`AttemptId`). */
function firstIdAt(ms: number): string {
  return wholeNumber(ms).toString(36).padStart(9, '0')
}

function wholeNumber(limit: number): number {
  return Math.max(0, Math.trunc(limit))
}
