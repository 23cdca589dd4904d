import { type Kysely, sql } from 'kysely'
import type { RestoredCounts } from './store.ts'
import type { StateTables } from './tables.ts'

/**
 * Takes what admins and nodes said out of a checked copy of a backup, in one transaction. What is worse to lose than to
 * keep is kept: what was revoked stays revoked, and of two installs of a host the one that changed last counts, because
 * a disk that was written since must not be written again.
 * @throws whatever SQLite says
 */
export async function restoreFrom(db: Kysely<StateTables>, copy: string): Promise<RestoredCounts> {
  return db.connection().execute(async (connection) => {
    await sql`attach ${copy} as backup`.execute(connection)
    try {
      return await connection.transaction().execute(async (transaction) => {
        await takeRecords(transaction)
        await takeInstalls(transaction)
        await takeCredentials(transaction)
        await takeHistory(transaction)
        await takePins(transaction)
        return countsOf(transaction)
      })
    } finally {
      await sql`detach backup`.execute(connection)
    }
  })
}

async function takeRecords(db: Kysely<StateTables>): Promise<void> {
  await sql`delete from main.fleet_record`.execute(db)
  await sql`insert into main.fleet_record select * from backup.fleet_record`.execute(db)
  await sql`delete from main.run_time_setting`.execute(db)
  await sql`insert into main.run_time_setting select * from backup.run_time_setting`.execute(db)
}

async function takeInstalls(db: Kysely<StateTables>): Promise<void> {
  await sql`delete from main.install where exists (
    select 1 from backup.install as old
    where old.host = main.install.host and old.changed_at > main.install.changed_at)`.execute(db)
  await sql`insert or ignore into main.install select * from backup.install`.execute(db)
}

async function takeCredentials(db: Kysely<StateTables>): Promise<void> {
  await sql`delete from main.api_token where revoked_at is null`.execute(db)
  await sql`insert or ignore into main.api_token select * from backup.api_token`.execute(db)
  await sql`insert into main.boot_token_revocation select * from backup.boot_token_revocation where true
    on conflict (host) do update set revoked_before = max(revoked_before, excluded.revoked_before)`.execute(
    db,
  )
  await sql`insert or replace into main.secret select * from backup.secret`.execute(db)
}

async function takeHistory(db: Kysely<StateTables>): Promise<void> {
  await sql`insert or ignore into main.node_report select * from backup.node_report`.execute(db)
  const { rows } = await sql<{ last: number | null }>`
    select (select max(id) from main.audit_entry) as last from backup.audit_entry as old
    where not exists (
      select 1 from main.audit_entry as here
      where here.at = old.at and here.done_by = old.done_by and here.via = old.via
        and here.action = old.action and here.target = old.target and here.summary = old.summary)
    limit 1`.execute(db)
  const [missing] = rows
  if (missing === undefined) return
  // Both lists become one in the order of time; its ids are new, because they are what that order is read by.
  await sql`
    insert into main.audit_entry (at, done_by, via, action, target, summary, reason)
    select at, done_by, via, action, target, summary, reason from (
      select * from main.audit_entry union all select * from backup.audit_entry
    ) group by at, done_by, via, action, target, summary, reason order by at, min(id)`.execute(db)
  await sql`delete from main.audit_entry where id <= ${missing.last ?? 0}`.execute(db)
}

/** What a pin was resolved to stays fixed (G5); files that are not here are fetched again. */
async function takePins(db: Kysely<StateTables>): Promise<void> {
  await sql`insert or ignore into main.bootimage select * from backup.bootimage
    where id in (select bootimage from backup.pin_resolution)`.execute(db)
  await sql`insert or ignore into main.pin_resolution select * from backup.pin_resolution`.execute(db)
}

async function countsOf(db: Kysely<StateTables>): Promise<RestoredCounts> {
  const { rows } = await sql<RestoredCounts>`select
    (select count(*) from backup.fleet_record) as records,
    (select count(*) from backup.run_time_setting) as settings,
    (select count(*) from backup.install) as installs,
    (select count(*) from backup.api_token) as tokens,
    (select count(*) from backup.pin_resolution) as "pinnedReleases"`.execute(db)
  const [counts] = rows
  if (counts === undefined) throw new Error('the backup could not be counted')
  return { ...counts }
}
