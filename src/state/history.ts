import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { NodeReport, SeenMachine } from '../core/fleet.ts'
import type { MacAddress } from '../core/mac.ts'
import { auditEntry, nodeReport, seenMachine, seenMachineRow } from './history-rows.ts'
import type { RowReader } from './readable-rows.ts'
import type { FleetStore, HistoryLimits, KeptAuditEntry } from './store.ts'
import type { StateTables } from './tables.ts'

/** Rows per statement: far below any database's limit of bound values. */
const rowsPerStatement = 200

type AuditFilter = Parameters<FleetStore['listAudit']>[0]
type ReportFilter = Parameters<FleetStore['listReports']>[0]

export async function listAudit(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  filter: AuditFilter,
): Promise<{ readonly items: readonly KeptAuditEntry[]; readonly total: number }> {
  const matches = (eb: ExpressionBuilder<StateTables, 'audit_entry'>) =>
    eb.and([
      ...(filter.target === undefined ? [] : [eb('target', '=', filter.target)]),
      ...(filter.by === undefined ? [] : [eb('done_by', '=', filter.by)]),
      ...(filter.action === undefined ? [] : [eb('action', '=', filter.action)]),
      ...(filter.since === undefined ? [] : [eb('at', '>=', filter.since)]),
    ])
  let page = db.selectFrom('audit_entry').selectAll().where(matches)
  if (filter.beforeId !== undefined) page = page.where('id', '<', filter.beforeId)
  const rows = await page.orderBy('id', 'desc').limit(wholeNumber(filter.limit)).execute()
  const { total } = await db
    .selectFrom('audit_entry')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(matches)
    .executeTakeFirstOrThrow()
  return { items: await rowReader.read('audit_entry', rows, auditEntry), total }
}

export async function listReports(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  filter: ReportFilter,
): Promise<{ readonly items: readonly NodeReport[]; readonly total: number }> {
  const matches = (eb: ExpressionBuilder<StateTables, 'node_report'>) =>
    eb.and([
      ...(filter.host === undefined ? [] : [eb('host', '=', filter.host)]),
      ...(filter.bootId === undefined ? [] : [eb('boot_id', '=', filter.bootId)]),
    ])
  let page = db.selectFrom('node_report').selectAll().where(matches)
  const { after } = filter
  if (after !== undefined) {
    page = page.where((eb) =>
      eb.or([
        eb('at', '<', after.at),
        eb.and([eb('at', '=', after.at), eb('boot_id', '>', after.bootId)]),
        eb.and([eb('at', '=', after.at), eb('boot_id', '=', after.bootId), eb('status', '>', after.status)]),
      ]),
    )
  }
  const rows = await page
    .orderBy('at', 'desc')
    .orderBy('boot_id')
    .orderBy('status')
    .limit(wholeNumber(filter.limit))
    .execute()
  const { total } = await db
    .selectFrom('node_report')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(matches)
    .executeTakeFirstOrThrow()
  return { items: await rowReader.read('node_report', rows, nodeReport), total }
}

export async function saveSeenMachines(
  db: Kysely<StateTables>,
  machines: readonly SeenMachine[],
): Promise<void> {
  if (machines.length === 0) return
  await db.transaction().execute(async (transaction) => {
    for (let first = 0; first < machines.length; first += rowsPerStatement) {
      await transaction
        .insertInto('seen_machine')
        .values(machines.slice(first, first + rowsPerStatement).map(seenMachineRow))
        .onConflict((conflict) =>
          conflict.column('mac').doUpdateSet((eb) => ({
            last_seen_at: eb.ref('excluded.last_seen_at'),
            seen_count: eb.ref('excluded.seen_count'),
            uuid: eb.ref('excluded.uuid'),
            serial: eb.ref('excluded.serial'),
            arch: eb.ref('excluded.arch'),
            firmware: eb.ref('excluded.firmware'),
            address: eb.ref('excluded.address'),
            decision: eb.ref('excluded.decision'),
          })),
        )
        .execute()
    }
  })
}

export async function removeSeenMachines(
  db: Kysely<StateTables>,
  macs: readonly MacAddress[],
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (let first = 0; first < macs.length; first += rowsPerStatement)
      await transaction
        .deleteFrom('seen_machine')
        .where('mac', 'in', macs.slice(first, first + rowsPerStatement))
        .execute()
  })
}

export async function listSeenMachines(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  { limit }: { limit: number },
): Promise<readonly SeenMachine[]> {
  const rows = await db
    .selectFrom('seen_machine')
    .selectAll()
    .orderBy('last_seen_at', 'desc')
    .orderBy('mac')
    .limit(wholeNumber(limit))
    .execute()
  return rowReader.read('seen_machine', rows, seenMachine)
}

/** In each table the oldest go first, `most` at a time, so that nobody waits long. */
export async function trimHistory(
  db: Kysely<StateTables>,
  limits: HistoryLimits,
): Promise<{ readonly removed: number }> {
  return db.transaction().execute(async (transaction) => {
    const { auditBefore, mostAudit, reportsBefore, seenBefore, mostSeen, most } = limits
    let removed = 0
    // What is no number has no time to run out; of those there are none unless somebody else wrote them.
    for (const statement of [
      sql`delete from audit_entry where id in (
        select id from audit_entry where at < ${auditBefore} order by at limit ${most})`,
      sql`delete from audit_entry where id in (
        select id from audit_entry order by id
        limit min(max((select count(*) from audit_entry) - ${mostAudit}, 0), ${most}))`,
      sql`delete from node_report where rowid in (
        select rowid from node_report where at < ${reportsBefore} order by at limit ${most})`,
      sql`delete from seen_machine where rowid in (
        select rowid from seen_machine where last_seen_at < ${seenBefore} order by last_seen_at limit ${most})`,
      sql`delete from seen_machine where rowid in (
        select rowid from seen_machine order by last_seen_at
        limit min(max((select count(*) from seen_machine) - ${mostSeen}, 0), ${most}))`,
    ]) {
      const { numAffectedRows } = await statement.execute(transaction)
      removed += Number(numAffectedRows ?? 0)
    }
    return { removed }
  })
}

function wholeNumber(limit: number): number {
  return Math.max(0, Math.trunc(limit))
}
