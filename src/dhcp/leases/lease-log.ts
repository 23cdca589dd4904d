import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { LeaseChange, LeaseStore } from './lease.ts'
import { leaseLine, parseLeaseLine } from './lease-record.ts'

/** The file system as far as the log needs it, so that tests can fill the disk and lose unsynced writes. */
export interface LeaseLogFiles {
  readonly open: (
    path: string,
    flags: string,
    mode?: number,
  ) => Promise<Pick<FileHandle, 'write' | 'datasync' | 'sync' | 'close'>>
  readonly readFile: (path: string, encoding: 'latin1') => Promise<string>
  readonly rename: (from: string, to: string) => Promise<void>
  readonly rm: (path: string, options: { force: boolean }) => Promise<void>
}

/** Below this size a log is never rewritten while it is in use. */
const smallestRewriteBytes = 1024 * 1024
/** Rewritten when it has grown to this many times the size it had after the last rewrite. */
const rewriteFactor = 4

/**
 * Leases in an append log: one write and one fdatasync for all changes of a call. A crash can tear the last lines alone;
 * `load` leaves out what does not read, and what is appended later starts a line of its own.
 * One process may have it open: the lock of the data directory sees to that.
 */
export function createLeaseLog({
  path,
  log,
  files = { open, readFile, rename, rm },
}: {
  readonly path: string
  readonly log: Log
  readonly files?: LeaseLogFiles
}): LeaseStore {
  let handle: Awaited<ReturnType<LeaseLogFiles['open']>> | undefined
  let sizeBytes = 0
  /** The file may end with half a line: what follows must not become part of it. */
  let mayEndTorn = false
  let rewriteAtBytes = smallestRewriteBytes

  async function load(): Promise<readonly LeaseChange[]> {
    const text = await readLog()
    sizeBytes = text.length
    mayEndTorn = text !== '' && !text.endsWith('\n')
    const changes: LeaseChange[] = []
    let unreadable = 0
    for (const line of text.split('\n')) {
      const change = parseLeaseLine(line)
      if (change) changes.push(change)
      else if (line !== '') unreadable++
    }
    if (unreadable > 0) log.warn({ path, unreadable }, 'lease log had unreadable lines')
    return changes
  }

  async function readLog(): Promise<string> {
    try {
      return await files.readFile(path, 'latin1')
    } catch (error) {
      if (isMissing(error)) return ''
      throw storageError('read', error)
    }
  }

  async function append(changes: readonly LeaseChange[]): Promise<void> {
    const text = Buffer.from(`${mayEndTorn ? '\n' : ''}${changes.map(leaseLine).join('')}`, 'latin1')
    try {
      handle ??= await openForAppend()
      await writeWhole(handle, text)
      await handle.datasync()
    } catch (error) {
      mayEndTorn = true
      await closeQuietly()
      throw storageError('write', error)
    }
    mayEndTorn = false
    sizeBytes += text.length
  }

  async function openForAppend(): Promise<NonNullable<typeof handle>> {
    const opened = await files.open(path, 'a', 0o600)
    // The file may be new, and a synced file without its name is lost.
    await syncDirectory()
    return opened
  }

  async function rewrite(changes: readonly LeaseChange[]): Promise<void> {
    const temporary = `${path}.new`
    const text = Buffer.from(changes.map(leaseLine).join(''), 'latin1')
    try {
      const next = await files.open(temporary, 'w', 0o600)
      try {
        await writeWhole(next, text)
        await next.datasync()
      } finally {
        await next.close()
      }
      await files.rename(temporary, path)
      await syncDirectory()
    } catch (error) {
      await files.rm(temporary, { force: true }).catch(() => undefined)
      throw storageError('rewrite', error)
    }
    await closeQuietly()
    mayEndTorn = false
    sizeBytes = text.length
    rewriteAtBytes = Math.max(smallestRewriteBytes, text.length * rewriteFactor)
  }

  async function syncDirectory(): Promise<void> {
    const directory = await files.open(dirname(path), 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  }

  async function closeQuietly(): Promise<void> {
    const closing = handle
    handle = undefined
    await closing?.close().catch(() => undefined)
  }

  function storageError(step: string, cause: unknown): ServiceError {
    return new ServiceError('STORAGE_FAILED', `the lease log ${path}: ${step} failed`, { path, step }, cause)
  }

  return {
    load,
    append,
    rewrite,
    get isRewriteDue() {
      return sizeBytes > rewriteAtBytes
    },
    close: closeQuietly,
  }
}

async function writeWhole(handle: Pick<FileHandle, 'write'>, bytes: Buffer): Promise<void> {
  let at = 0
  while (at < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, null)
    at += bytesWritten
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
