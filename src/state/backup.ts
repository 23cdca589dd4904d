import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { isServiceError, ServiceError } from '../core/errors.ts'

/** Between the name that a backup will have and what it is called while it is not whole. */
export const partialMark = '.partial-'

/**
 * Writes a consistent copy of a database, which may be written to meanwhile, to a file that is not there yet: complete,
 * synced and readable by this user alone, or not there. Works on a connection of its own and takes as long as the disk.
 * @throws ServiceError CONFLICT when something is there, STORAGE_FAILED with nothing left behind
 */
export function writeBackup({ source, target }: { readonly source: string; readonly target: string }): {
  readonly sizeBytes: number
} {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw conflict(target)
  const partial = `${target}${partialMark}${randomBytes(6).toString('hex')}`
  let database: Database.Database | undefined
  try {
    // SQLite writes into an empty file as into none; so its mode is ours.
    closeSync(openSync(partial, 'wx', 0o600))
    database = new Database(source)
    database.exec('PRAGMA busy_timeout=10000')
    database.prepare('VACUUM INTO ?').run([partial])
    syncFile(partial)
    moveInto(partial, target)
    syncFile(dirname(target))
    return { sizeBytes: statSync(target).size }
  } catch (cause) {
    throw isServiceError(cause) ? cause : failed(target, cause)
  } finally {
    database?.close()
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true })
  }
}

/** Gives it its name, unless something has got that meanwhile. */
function moveInto(partial: string, target: string): void {
  try {
    linkSync(partial, target)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw conflict(target, cause)
    // Some file systems, such as those of USB sticks, know no second name for a file.
    renameSync(partial, target)
  }
}

function conflict(path: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `${path} is there already: a backup does not overwrite anything, give it another name or move that file away`,
    { path },
    cause,
  )
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
