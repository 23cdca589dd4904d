import { chmodSync, closeSync, constants, copyFileSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { StoredRecord } from '../core/fleet.ts'
import { loadFleet } from './load-fleet.ts'
import { migrate } from './migrate.ts'
import { createRowReader } from './readable-rows.ts'
import { openSqlite } from './sqlite.ts'
import type { StateTables } from './tables.ts'

/** The first bytes of every SQLite database (SQLite, "Database File Format" §1.2.1). */
const magic = 'SQLite format 3\0'

/** Private copies of a backup are made beside the state; SQLite may put files beside those. */
export function removeCopy(copy: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${copy}${suffix}`, { force: true })
}

/**
 * Makes a private copy of a backup, checks it and brings it to the version of this program: what is restored has been
 * read whole before anything is changed, and the backup itself stays as it is.
 * @returns its records, for whoever knows what may stand in them
 * @throws ServiceError NOT_FOUND, BACKUP_INVALID, STATE_NEWER_VERSION, STORAGE_FAILED; the copy is gone then
 */
export async function prepareRestore({
  file,
  copy,
}: {
  readonly file: string
  readonly copy: string
}): Promise<readonly StoredRecord[]> {
  removeCopy(copy)
  try {
    copyBackup(file, copy)
    return await checkCopy(file, copy)
  } catch (cause) {
    removeCopy(copy)
    if (isServiceError(cause) && cause.code !== 'STATE_UNAVAILABLE') throw cause
    throw invalid(file, cause instanceof Error ? cause.message : cause, cause)
  }
}

function copyBackup(file: string, copy: string): void {
  const size = sizeOfBackup(file)
  if (size < magic.length || firstBytes(file) !== magic) throw invalid(file, 'it is no SQLite database')
  try {
    copyFileSync(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    chmodSync(copy, 0o600)
  } catch (cause) {
    throw new ServiceError(
      'STORAGE_FAILED',
      `the backup ${file} could not be copied to ${copy}: ${(cause as Error).message}`,
      { file, copy },
      cause,
    )
  }
}

function sizeOfBackup(file: string): number {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) throw invalid(file, 'it is no regular file')
    return stats.size
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause
    throw new ServiceError('NOT_FOUND', `there is no file ${file}`, { file }, cause)
  }
}

function firstBytes(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(magic.length)
    readSync(descriptor, bytes, 0, bytes.length, 0)
    return bytes.toString('latin1')
  } finally {
    closeSync(descriptor)
  }
}

async function checkCopy(file: string, copy: string): Promise<readonly StoredRecord[]> {
  const db = openSqlite<StateTables>(copy)
  try {
    await checkIntegrity(db, file)
    await checkIsOurs(db, file)
    await migrate(db)
    await checkSchema(db, file)
    const { records } = await loadFleet(db, createRowReader({ db, onUnreadable: () => {} }))
    // The one file is attached to the state; a log beside it would have to go with it.
    await sql`PRAGMA journal_mode=DELETE`.execute(db)
    return records
  } finally {
    await db.destroy()
  }
}

async function checkIntegrity(db: Kysely<StateTables>, file: string): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`PRAGMA integrity_check(1)`.execute(db)
  const found = rows[0]?.integrity_check
  if (found !== 'ok') throw invalid(file, `it is damaged (${found ?? 'no answer'})`)
}

async function checkIsOurs(db: Kysely<StateTables>, file: string): Promise<void> {
  const { rows } = await sql`
    select 1 from sqlite_schema where type = 'table' and name = 'schema_version'`.execute(db)
  if (rows.length === 0) throw invalid(file, 'it is a database of something else')
}

/** Tables of the same names may mean anything: what is taken over has exactly the shape that this program makes. */
async function checkSchema(db: Kysely<StateTables>, file: string): Promise<void> {
  const ours = openSqlite<StateTables>(':memory:')
  try {
    await migrate(ours)
    const [expected, found] = [await schemaOf(ours), await schemaOf(db)]
    const odd = [...found].find((entry) => !expected.has(entry)) ?? [...expected].find((e) => !found.has(e))
    if (odd !== undefined) throw invalid(file, `its schema is not that of this program (${odd.slice(0, 80)})`)
  } finally {
    await ours.destroy()
  }
}

async function schemaOf(db: Kysely<StateTables>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_schema where sql is not null and name not like 'sqlite%'`.execute(db)
  return new Set(rows.map((row) => row.sql))
}

function invalid(file: string, why: unknown, cause?: unknown): ServiceError {
  return new ServiceError(
    'BACKUP_INVALID',
    `${file} cannot be restored: ${String(why)}; nothing was changed`,
    { file },
    cause,
  )
}
