import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../core/errors.ts'
import { migrations as allMigrations, type Migration } from './migrations/index.ts'

interface VersionTables {
  schema_version: { readonly version: number; readonly name: string }
}

/**
 * Brings the database to the version of this program, all or nothing. Returns the names of what was applied.
 * @throws ServiceError STATE_NEWER_VERSION when a newer program has already been here
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  migrations: readonly Migration[] = allMigrations,
): Promise<readonly string[]> {
  return db.transaction().execute(async (transaction) => {
    const versions = transaction as unknown as Kysely<VersionTables>
    await versions.schema
      .createTable('schema_version')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.notNull().primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .execute()
    const { found } = await versions
      .selectFrom('schema_version')
      .select(sql<number>`coalesce(max(version), 0)`.as('found'))
      .executeTakeFirstOrThrow()
    if (found > migrations.length) throw newerVersion(found, migrations.length)

    const pending = migrations.slice(found)
    for (const [index, migration] of pending.entries()) {
      await migration.up(transaction as unknown as Kysely<unknown>)
      const version = found + index + 1
      await versions.insertInto('schema_version').values({ version, name: migration.name }).execute()
    }
    return pending.map(({ name }) => name)
  })
}

/** 0: an empty database, or one of something else. */
export async function schemaVersion<Tables>(db: Kysely<Tables>): Promise<number> {
  const { rows: tables } = await sql`
    select 1 from sqlite_schema where type = 'table' and name = 'schema_version'`.execute(db)
  if (tables.length === 0) return 0
  const { rows } = await sql<{ found: number }>`
    select coalesce(max(version), 0) as found from schema_version`.execute(db)
  return rows[0]?.found ?? 0
}

/** `backups`: copies of earlier versions, which this program may be able to read. */
export function newerVersion(found: number, known: number, backups: readonly string[] = []): ServiceError {
  const instead =
    backups.length === 0
      ? ''
      : `, or put a backup that was made before an update in its place (what was changed since is lost): ${backups.join(', ')}`
  return new ServiceError(
    'STATE_NEWER_VERSION',
    `the state database has schema version ${found}, this program knows versions up to ${known}: run the newer program again, or give this one a data directory of its own${instead}`,
    { found, known, ...(backups.length === 0 ? {} : { backups }) },
  )
}
