import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely'
import Database from 'libsql'
import { ServiceError } from '../core/errors.ts'

/** How long a statement waits for a lock, and its thread with it; only a database shell can hold one. */
const lockWaitMs = 10_000

/**
 * Opens an embedded database whose acknowledged writes survive `kill -9` and power loss: the write-ahead log is
 * synced by every commit (`synchronous=FULL`; SQLite's documentation, pragma synchronous).
 * @throws ServiceError STATE_UNAVAILABLE
 */
export function openSqlite<Tables>(
  file: string,
  { waitMs = lockWaitMs }: { readonly waitMs?: number } = {},
): Kysely<Tables> {
  let database: Database.Database | undefined
  try {
    const opened = new Database(file)
    database = opened
    // exec, not pragma(): the latter leaves a statement open, which would keep the file open after close().
    for (const pragma of [
      `busy_timeout=${waitMs}`,
      'journal_mode=WAL',
      'synchronous=FULL',
      'foreign_keys=ON',
    ]) {
      opened.exec(`PRAGMA ${pragma}`)
    }
    const guarded = {
      prepare: (sql: string) => turnOfTransaction(opened, sql) ?? guardStatement(opened, sql),
      close: () => closeWhole(opened),
    }
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: guarded }) })
  } catch (cause) {
    database?.close()
    throw unavailable(`opening the state database ${file}`, cause, { file })
  }
}

/** Brings the write-ahead log into the database first: after a clean end that one file is all there is to copy. */
function closeWhole(database: Database.Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // A shell may hold it, or the disk be full: the log stays beside it and is as good.
  }
  database.close()
}

/** What went wrong at which step, in the store's own terms. */
export function unavailable(
  step: string,
  cause: unknown,
  details: Record<string, unknown> = {},
): ServiceError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const sqliteCode = (cause as { code?: unknown } | undefined)?.code
  const advice =
    sqliteCode === 'SQLITE_NOTADB' || sqliteCode === 'SQLITE_CORRUPT'
      ? '; restore it from a backup together with the -wal file of the same moment, or move the database, its -wal and its -shm away and start with an empty one (artifacts stay)'
      : ''
  return new ServiceError(
    'STATE_UNAVAILABLE',
    `${step}: ${reason}${advice}`,
    { step, ...(typeof sqliteCode === 'string' ? { sqliteCode } : {}), ...details },
    cause,
  )
}

const nothingChanged = { changes: 0, lastInsertRowid: 0 }

/**
 * Begins with the lock that writing needs, so that a lock of somebody else is met by this statement alone. A prepared
 * one that met a lock would stay open in libsql, and hold an old view of the database until it is collected as garbage:
 * every later write would fail (SQLITE_BUSY_SNAPSHOT).
 */
function turnOfTransaction(database: Database.Database, sql: string): SqliteStatement | undefined {
  const turns: Readonly<Record<string, () => void>> = {
    begin: () => database.exec('BEGIN IMMEDIATE'),
    commit: () => database.exec('COMMIT'),
    // After some failures, such as a full disk, there is none any more; the failure itself is what matters.
    rollback: () => database.inTransaction && database.exec('ROLLBACK'),
  }
  const turn = turns[sql]
  if (turn === undefined) return undefined
  const run = () => {
    turn()
    return nothingChanged
  }
  return { reader: false, run, all: () => [], iterate: () => [].values() }
}

function guardStatement(database: Database.Database, sql: string): SqliteStatement {
  const statement = database.prepare(sql)
  const isWrite = /^\s*(insert|update|delete|replace)\b/i.test(sql)
  return {
    get reader() {
      return statement.reader
    },
    all: (values) => statement.all(bindable(values)),
    run(values) {
      const bound = bindable(values)
      return isWrite && !database.inTransaction
        ? inTransaction(database, () => statement.run(bound))
        : statement.run(bound)
    },
    iterate: (values) => statement.iterate(bindable(values)),
  }
}

function inTransaction<T>(database: Database.Database, run: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = run()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * libsql 0.5 ends the whole process when it is given a boolean ("not yet implemented: bool") and cuts text at the
 * first NUL. Whatever it would not store as it is stops here as an ordinary error.
 */
function bindable(values: readonly unknown[]): unknown[] {
  for (const value of values) {
    const isPlain =
      value === null ||
      typeof value === 'string' ||
      typeof value === 'bigint' ||
      (typeof value === 'number' && Number.isFinite(value)) ||
      value instanceof Uint8Array
    if (!isPlain) throw new TypeError(`a ${typeof value} cannot be a SQL value`)
    if (typeof value === 'string' && value.includes('\0')) {
      throw new TypeError('text with a NUL character cannot be stored')
    }
  }
  return [...values]
}
