import { isServiceError } from '../core/errors.ts'
import { createSqlStore } from './create-sql-store.ts'
import { migrate } from './migrate.ts'
import { openSqlite, unavailable } from './sqlite.ts'
import type { StateStore } from './store.ts'
import type { StateTables } from './tables.ts'

/**
 * The embedded store of a data directory whose lock the caller holds.
 * @throws ServiceError STATE_UNAVAILABLE, STATE_NEWER_VERSION
 */
export async function openStateStore({ file }: { readonly file: string }): Promise<StateStore> {
  const db = openSqlite<StateTables>(file)
  try {
    await migrate(db)
    return createSqlStore({ db })
  } catch (cause) {
    await db.destroy()
    throw isServiceError(cause)
      ? cause
      : unavailable('bringing the state database up to date', cause, { file })
  }
}
