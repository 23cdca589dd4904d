import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { lockDirectory } from './directory-lock.ts'
import { checkDirectoryTrust, checkPartTrust } from './trusted-places.ts'

/**
 * ```
 * <data>/artifacts/     complete, verified files by digest
 * <data>/incoming/      being written
 * <data>/quarantine/    failed a check
 * <data>/metadata/      archive of documents by digest
 * <data>/state.db       embedded store
 * <data>/backups/       copies of it, made before an update changed it
 * <data>/control.sock   the admin API of the process that owns the directory
 * <data>/lock           held by that process; lock.owner says which one
 * ```
 * Paths are absolute.
 */
export interface DataDirectory {
  readonly path: string
  readonly artifacts: string
  readonly incoming: string
  readonly quarantine: string
  readonly metadata: string
  readonly stateFile: string
  /** Made when something goes into it. */
  readonly backups: string
  readonly controlSocket: string
  /** Gives the directory to the next process; may be called twice. */
  release(): void
}

export type DataDirectoryPaths = Omit<DataDirectory, 'release'>

/** Where everything is, without touching anything: for a command that speaks to the running service. */
export function dataDirectoryPaths(directory: string): DataDirectoryPaths {
  const path = resolve(directory)
  return {
    path,
    artifacts: join(path, 'artifacts'),
    incoming: join(path, 'incoming'),
    quarantine: join(path, 'quarantine'),
    metadata: join(path, 'metadata'),
    stateFile: join(path, 'state.db'),
    backups: join(path, 'backups'),
    controlSocket: join(path, 'control.sock'),
  }
}

/**
 * Creates what is missing, readable by this user alone, and takes the lock. One process owns a data directory, and its
 * user or root owns everything in it.
 * @throws ServiceError DATA_DIRECTORY_LOCKED, DATA_DIRECTORY_UNUSABLE
 */
export function openDataDirectory(options: {
  readonly directory: string
  readonly clock: Clock
  readonly pid: number
  /** Default: the user of this process. */
  readonly ownUid?: number
  /** The directory is more open than it should be; with the command that closes it. */
  readonly onWarning?: (text: string) => void
}): DataDirectory {
  const { ownUid = process.geteuid?.() } = options
  const paths = dataDirectoryPaths(options.directory)
  makeDirectory(paths.path)
  // Before anything in it is opened: a lock file or a database may be somebody's trap.
  if (ownUid !== undefined) checkTrust(paths, ownUid, options.onWarning)
  const release = lockDirectory(paths.path, {
    pid: options.pid,
    since: new Date(options.clock.now()).toISOString(),
  })
  try {
    for (const part of [paths.artifacts, paths.incoming, paths.quarantine, paths.metadata])
      makeDirectory(part)
    makePrivateFile(paths.stateFile)
    return { ...paths, release }
  } catch (error) {
    release()
    throw error
  }
}

function checkTrust(
  paths: DataDirectoryPaths,
  ownUid: number,
  onWarning: (text: string) => void = () => {},
): void {
  for (const text of checkDirectoryTrust(paths.path, ownUid)) onWarning(text)
  const { path, artifacts, incoming, quarantine, metadata, stateFile, backups } = paths
  const files = ['lock', 'lock.owner', 'state.db-wal', 'state.db-shm'].map((name) => join(path, name))
  const inside = ['sha256', 'signatures'].map((name) => join(artifacts, name))
  for (const part of [artifacts, ...inside, incoming, quarantine, metadata, stateFile, backups, ...files])
    checkPartTrust(part, ownUid)
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    if (!statSync(path).isDirectory()) throw unusable(path, 'it is not a directory')
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : unusable(path, reasonOf(whyNotMade(path, cause)), cause)
  }
}

/** Where a parent cannot be written, the recursive mkdir of Node 20 only says that there is no such file. */
function whyNotMade(path: string, cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return cause
  let parent = dirname(path)
  while (!existsSync(parent)) parent = dirname(parent)
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
    return cause
  } catch (why) {
    return why
  }
}

/** The database's journal files take their mode from the database file, so that is made first. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  } catch (cause) {
    throw unusable(path, reasonOf(cause), cause)
  }
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'there is something else that is not a directory'
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read and write there'
    case 'EROFS':
      return 'the file system is read-only'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the file system is full'
    default:
      return message
  }
}

function unusable(path: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'DATA_DIRECTORY_UNUSABLE',
    `${path} cannot be used: ${why}; the data directory must be a directory that this user owns (--data-dir, PILOTLIGHT_DATA_DIR)`,
    { path },
    cause,
  )
}
