import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { ServiceError } from '../core/errors.ts'

/** Who owns a data directory; told to whoever comes second. */
export interface LockOwner {
  readonly pid: number
  /** ISO 8601. */
  readonly since: string
}

/**
 * Takes the lock of a data directory and returns how to let go of it.
 *
 * The lock is an exclusive transaction on an empty database file: an operating-system lock, which a killed process
 * gives up by itself, and which a second opening within one process meets as well. Nothing else may open that file:
 * closing any descriptor of it would drop the lock (POSIX record locks), so its owner is written beside it.
 * @throws ServiceError DATA_DIRECTORY_LOCKED, DATA_DIRECTORY_UNUSABLE
 */
export function lockDirectory(directory: string, owner: LockOwner): () => void {
  const ownerFile = join(directory, 'lock.owner')
  let database: Database.Database | undefined
  try {
    database = new Database(join(directory, 'lock'))
    // No rollback journal on disk: there is nothing to roll back.
    database.exec('PRAGMA journal_mode=MEMORY')
    database.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    database?.close()
    const { code } = cause as { code?: unknown }
    if (code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED')
      throw locked(directory, readLockOwner(directory), cause)
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ServiceError(
      'DATA_DIRECTORY_UNUSABLE',
      `the data directory ${directory} cannot be locked: ${reason}; it must be on a file system with locks, writable by this user`,
      { directory },
      cause,
    )
  }
  writeOwner(ownerFile, owner)
  let held: Database.Database | undefined = database
  return () => {
    // The transaction must end first: a closed connection can live on until its statements are collected.
    held?.exec('ROLLBACK')
    held?.close()
    held = undefined
  }
}

function locked(directory: string, owner: LockOwner | undefined, cause: unknown): ServiceError {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} (since ${owner.since})`
  return new ServiceError(
    'DATA_DIRECTORY_LOCKED',
    `the data directory ${directory} is in use by ${who}: stop that process, or use another directory (--data-dir, PILOTLIGHT_DATA_DIR)`,
    { directory, ...(owner === undefined ? {} : { pid: owner.pid, since: owner.since }) },
    cause,
  )
}

/** For people only: losing it costs nothing, so it is renamed into place but not synced. */
function writeOwner(file: string, owner: LockOwner): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {
    // A full disk must not keep the service from starting with what it has.
  }
}

/** Who took the lock last, whether or not he still holds it. */
export function readLockOwner(directory: string): LockOwner | undefined {
  try {
    const text = readFileSync(join(directory, 'lock.owner'), 'utf8')
    const { pid, since } = JSON.parse(text) as Record<string, unknown>
    return typeof pid === 'number' && typeof since === 'string' ? { pid, since } : undefined
  } catch {
    return undefined
  }
}
