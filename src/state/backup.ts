import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { ServiceError } from '../core/errors.ts'

/**
 * Writes a consistent copy of a database, which may be written to meanwhile, to a file that is not there yet: complete,
 * synced and readable by this user alone, or not there. Works on a connection of its own and takes as long as the disk.
 * @throws ServiceError CONFLICT when something is there, STORAGE_FAILED with nothing left behind
 */
export function writeBackup({ source, target }: { readonly source: string; readonly target: string }): {
  readonly sizeBytes: number
} {
  makeEmptyFile(target)
  let database: Database.Database | undefined
  try {
    database = new Database(source)
    database.exec('PRAGMA busy_timeout=10000')
    database.prepare('VACUUM INTO ?').run([target])
    syncFile(target)
    syncFile(dirname(target))
    return { sizeBytes: statSync(target).size }
  } catch (cause) {
    for (const file of [target, `${target}-journal`]) rmSync(file, { force: true })
    throw failed(target, cause)
  } finally {
    database?.close()
  }
}

/** SQLite writes into an empty file as into none; so its mode is ours and what is there is never overwritten. */
function makeEmptyFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw failed(path, cause)
    throw new ServiceError(
      'CONFLICT',
      `${path} is there already: a backup does not overwrite anything, give it another name or move that file away`,
      { path },
      cause,
    )
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function failed(path: string, cause: unknown): ServiceError {
  return new ServiceError(
    'STORAGE_FAILED',
    `the backup ${path} could not be written: ${reasonOf(path, cause)}; nothing was left behind`,
    { path },
    cause,
  )
}

function reasonOf(path: string, cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `there is no directory ${dirname(path)}`
    case 'EACCES':
    case 'EPERM':
      return 'the user of the service may not write there'
    case 'EROFS':
      return 'the file system is read-only'
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return 'the file system is full'
    default:
      return message
  }
}
