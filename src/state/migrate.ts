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

function newerVersion(found: number, known: number): ServiceError {
  return new ServiceError(
    'STATE_NEWER_VERSION',
    `the state database has schema version ${found}, this program knows versions up to ${known}: run the newer program again, or give this one a data directory of its own`,
    { found, known },
  )
}
