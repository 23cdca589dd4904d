import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, statfs, unlink } from 'node:fs/promises'
import { type FileIdentity, fileIdentity } from '../core/file-identity.ts'

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other'
  readonly sizeBytes: number
  /** Ms since the epoch, whole. */
  readonly modifiedAt: number
  /** Another one after any change, whatever became of size and time. */
  readonly identity: FileIdentity
}

export interface OpenFile {
  stat(): Promise<FileStat>
  /** Fills as much of the buffer as there is from `position` on; the number of bytes, 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Writes all of the buffer. */
  write(buffer: Uint8Array, position: number): Promise<void>
  setMode(mode: number): Promise<void>
  /** Data and metadata are on the disk afterwards; the name of the file need not be. */
  sync(): Promise<void>
  close(): Promise<void>
}

/**
 * The few things the store does with a file system, so that a test can put one underneath that loses what was not
 * synced, fills up, or stops at any step. Errors are those of Node, with `code`.
 */
export interface FileSystem {
  /** An existing file for reading; a link is followed only where an admin chose the path. */
  openForRead(path: string, options?: { readonly followLinks: boolean }): Promise<OpenFile>
  /** An existing file, to go on writing it. */
  openForWrite(path: string): Promise<OpenFile>
  /** A new file; fails when the name is taken. */
  create(path: string): Promise<OpenFile>
  /** Of the name itself, never of what a link points to; `undefined` when there is nothing. */
  stat(path: string): Promise<FileStat | undefined>
  /** Names in no order; none when the directory is absent. */
  list(directory: string): Promise<readonly string[]>
  /** Fine when it exists already. */
  makeDirectory(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Fine when there is nothing. */
  remove(path: string): Promise<void>
  /** The names in a directory are on the disk afterwards. */
  syncDirectory(path: string): Promise<void>
  /** Bytes that an unprivileged process may still write there. */
  freeBytes(path: string): Promise<number>
}

const readFlags = constants.O_RDONLY | constants.O_NONBLOCK

/** The file system of this machine. */
export const nodeFileSystem: FileSystem = {
  async openForRead(path, { followLinks } = { followLinks: false }) {
    return openFile(await open(path, followLinks ? readFlags : readFlags | constants.O_NOFOLLOW))
  },
  async openForWrite(path) {
    return openFile(await open(path, constants.O_RDWR | constants.O_NOFOLLOW))
  },
  async create(path) {
    return openFile(await open(path, 'wx+', 0o600))
  },
  async stat(path) {
    try {
      return describe(await lstat(path, { bigint: true }))
    } catch (error) {
      return absentIs(undefined, error)
    }
  },
  async list(directory) {
    try {
      return await readdir(directory)
    } catch (error) {
      return absentIs([], error)
    }
  },
  async makeDirectory(path) {
    await mkdir(path, { recursive: true })
  },
  rename,
  async remove(path) {
    try {
      await unlink(path)
    } catch (error) {
      absentIs(undefined, error)
    }
  },
  async syncDirectory(path) {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async freeBytes(path) {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  },
}

function openFile(handle: FileHandle): OpenFile {
  return {
    stat: async () => describe(await handle.stat({ bigint: true })),
    async read(buffer, position) {
      let done = 0
      while (done < buffer.length) {
        const { bytesRead } = await handle.read(buffer, done, buffer.length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return done
    },
    async write(buffer, position) {
      let done = 0
      while (done < buffer.length) {
        const { bytesWritten } = await handle.write(buffer, done, buffer.length - done, position + done)
        done += bytesWritten
      }
    },
    setMode: (mode) => handle.chmod(mode),
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}

function describe(stats: BigIntStats): FileStat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other'
  return {
    kind,
    sizeBytes: Number(stats.size),
    modifiedAt: Number(stats.mtimeMs),
    identity: fileIdentity(stats),
  }
}

function absentIs<T>(value: T, error: unknown): T {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return value
  throw error
}
