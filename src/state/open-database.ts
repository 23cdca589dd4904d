import type { Kysely } from 'kysely'
import { isServiceError } from '../core/errors.ts'
import { migrate, newerVersion, schemaVersion } from './migrate.ts'
import { backUpBeforeMigration, listMigrationBackups } from './migration-backups.ts'
import { migrations } from './migrations/index.ts'
import { openSqlite, unavailable } from './sqlite.ts'
import type { StateTables } from './tables.ts'

/** What was done to a database that an earlier program has left. */
export interface DatabaseUpdate {
  readonly migrations: readonly string[]
  /** The copy that was made of it first. */
  readonly backup: string
}

/**
 * Opens the database and brings it to the version of this program, after a copy of what was there.
 * @throws ServiceError STATE_UNAVAILABLE, STATE_NEWER_VERSION naming the backups that are there
 */
export async function openDatabase(options: {
  readonly file: string
  readonly backups: string
  readonly now: number
}): Promise<{ readonly db: Kysely<StateTables>; readonly update?: DatabaseUpdate }> {
  const { file, backups, now } = options
  const db = openSqlite<StateTables>(file)
  try {
    const version = await schemaVersion(db)
    if (version > migrations.length)
      throw newerVersion(version, migrations.length, listMigrationBackups(backups))
    if (version === 0 || version === migrations.length) {
      await migrate(db)
      return { db }
    }
    const { path } = backUpBeforeMigration({ source: file, directory: backups, version, now })
    return { db, update: { migrations: await migrate(db), backup: path } }
  } catch (cause) {
    await db.destroy()
    throw isServiceError(cause)
      ? cause
      : unavailable('bringing the state database up to date', cause, { file })
  }
}
