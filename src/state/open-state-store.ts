import { isServiceError } from '../core/errors.ts'
import { type Log, silentLog } from '../core/log.ts'
import { createSqlStore } from './create-sql-store.ts'
import { migrate } from './migrate.ts'
import { openSqlite, unavailable } from './sqlite.ts'
import type { StateStore } from './store.ts'
import type { StateTables } from './tables.ts'

/**
 * The embedded store of a data directory whose lock the caller holds.
 * @throws ServiceError STATE_UNAVAILABLE, STATE_NEWER_VERSION
 */
export async function openStateStore({
  file,
  log = silentLog,
}: {
  readonly file: string
  readonly log?: Log
}): Promise<StateStore> {
  const db = openSqlite<StateTables>(file)
  try {
    await migrate(db)
    return createSqlStore({
      db,
      onUnreadable: ({ table, count, example }) =>
        log.error(
          { file, table, rows: count, example },
          table === 'boot_attempt'
            ? 'rows of the state cannot be read and are passed over; they are removed when they are two hours old'
            : 'rows of the state cannot be read and were moved to table unreadable_row; what they said is found out again at the next refresh, or comes back from a backup',
        ),
    })
  } catch (cause) {
    await db.destroy()
    throw isServiceError(cause)
      ? cause
      : unavailable('bringing the state database up to date', cause, { file })
  }
}
