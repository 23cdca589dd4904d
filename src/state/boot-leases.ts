import { type Kysely, sql } from 'kysely'
import type { BootimageLease, BootLease } from '../core/boot-lease.ts'
import type { BootimageId } from '../core/bootimage.ts'
import { bootLease, bootLeaseRow } from './rows.ts'
import type { TrimmedAttempts } from './store.ts'
import type { StateTables } from './tables.ts'

/** Rows per statement: far below any database's limit of bound values. */
const rowsPerStatement = 200

/** The later of the stored and the offered time: a late write never makes a lease older (G6). */
const laterAttempt = sql<number>`max(excluded.last_seen_at, boot_attempt.last_seen_at)`
const laterLease = sql<number>`max(excluded.last_seen_at, bootimage_lease.last_seen_at)`

export async function saveBootLeases(db: Kysely<StateTables>, attempts: readonly BootLease[]): Promise<void> {
  if (attempts.length === 0) return
  await db.transaction().execute(async (transaction) => {
    for (let first = 0; first < attempts.length; first += rowsPerStatement) {
      await transaction
        .insertInto('boot_attempt')
        .values(attempts.slice(first, first + rowsPerStatement).map(bootLeaseRow))
        .onConflict((conflict) =>
          conflict.column('boot_id').doUpdateSet({
            host: sql`excluded.host`,
            mac: sql`excluded.mac`,
            address: sql`excluded.address`,
            bootimage: sql`excluded.bootimage`,
            last_seen_at: laterAttempt,
          }),
        )
        .execute()
    }
  })
}

export async function listBootLeases(
  db: Kysely<StateTables>,
  { lastSeenAfter, limit }: { lastSeenAfter: number; limit: number },
): Promise<{ readonly attempts: readonly BootLease[]; readonly unreadable: readonly string[] }> {
  const rows = await db
    .selectFrom('boot_attempt')
    .selectAll()
    .where('last_seen_at', '>', lastSeenAfter)
    .orderBy('last_seen_at', 'desc')
    .limit(limit)
    .execute()
  const unreadable: string[] = []
  const attempts = rows.flatMap((row) => {
    try {
      return [bootLease(row)]
    } catch (error) {
      unreadable.push(error instanceof Error ? error.message : String(error))
      return []
    }
  })
  return { attempts: attempts.sort(byStart), unreadable }
}

function byStart(a: BootLease, b: BootLease): number {
  return a.startedAt - b.startedAt || (a.bootId < b.bootId ? -1 : 1)
}

export async function saveBootimageLeases(
  db: Kysely<StateTables>,
  leases: readonly BootimageLease[],
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (const { bootimage, lastSeenAt } of leases) {
      await transaction
        .insertInto('bootimage_lease')
        .values({ bootimage, last_seen_at: lastSeenAt })
        .onConflict((conflict) => conflict.column('bootimage').doUpdateSet({ last_seen_at: laterLease }))
        .execute()
    }
  })
}

/** A number is less than any text (SQLite, "Datatypes in SQLite" §4.1): `< ''` leaves out what is no time. */
export async function listBootimageLeases(
  db: Kysely<StateTables>,
  { lastSeenAfter }: { lastSeenAfter: number },
): Promise<readonly BootimageLease[]> {
  // From bootimage to bootimage through an index, so that millions of attempts cost no more than one.
  const { rows } = await sql<{ bootimage: string; last_seen_at: number }>`
    with recursive leased (bootimage) as (
      select min(bootimage) from boot_attempt
      union all
      select (select min(next.bootimage) from boot_attempt as next where next.bootimage > leased.bootimage)
      from leased where leased.bootimage is not null
    )
    select bootimage, max(last_seen_at) as last_seen_at
    from (
      select leased.bootimage as bootimage, (
        select max(attempt.last_seen_at) from boot_attempt as attempt
        where attempt.bootimage = leased.bootimage and attempt.last_seen_at < ''
      ) as last_seen_at
      from leased
      union all
      select bootimage, last_seen_at from bootimage_lease where last_seen_at < ''
    )
    where last_seen_at > ${lastSeenAfter} and typeof(bootimage) = 'text'
    group by bootimage order by bootimage`.execute(db)
  return rows.map(({ bootimage, last_seen_at }) => ({
    bootimage: bootimage as BootimageId,
    lastSeenAt: last_seen_at,
  }))
}

/** Deletes what is over; of what is too much, the oldest leave the lease of their bootimage behind (G6). */
export async function trimBootLeases(
  db: Kysely<StateTables>,
  { lastSeenBefore, keep, most }: { lastSeenBefore: number; keep: number; most: number },
): Promise<TrimmedAttempts> {
  return db.transaction().execute(async (transaction) => {
    const over = await sql`
      delete from boot_attempt where rowid in (
        select rowid from boot_attempt where last_seen_at < ${lastSeenBefore} limit ${most}
      )`.execute(transaction)
    // Nothing of that kind has a time to run out.
    const timeless = await sql`
      delete from boot_attempt where rowid in (
        select rowid from boot_attempt where last_seen_at >= '' limit ${most}
      )`.execute(transaction)
    await sql`delete from bootimage_lease
      where last_seen_at < ${lastSeenBefore} or last_seen_at >= ''`.execute(transaction)
    const { rows } = await sql<{ count: number }>`select count(*) as count from boot_attempt`.execute(
      transaction,
    )
    const excess = Math.min(Math.max(0, (rows[0]?.count ?? 0) - keep), most)
    if (excess > 0) {
      await sql`
        insert into bootimage_lease (bootimage, last_seen_at)
        select bootimage, max(last_seen_at) from (
          select bootimage, last_seen_at from boot_attempt order by last_seen_at limit ${excess}
        ) where true group by bootimage
        on conflict (bootimage) do update set last_seen_at = ${laterLease}`.execute(transaction)
      await sql`
        delete from boot_attempt where rowid in (
          select rowid from boot_attempt order by last_seen_at limit ${excess}
        )`.execute(transaction)
    }
    const removed = Number(over.numAffectedRows ?? 0) + Number(timeless.numAffectedRows ?? 0)
    return { over: removed, folded: excess }
  })
}
