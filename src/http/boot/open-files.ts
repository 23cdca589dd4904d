import { type BigIntStats, constants, fstatSync } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { type FileIdentity, fileIdentity } from '../../core/file-identity.ts'
import type { BlockSource } from './block-cache.ts'

/** Why a file that the catalog names cannot be sent; none of these is the fault of who asks. */
export type FileProblem =
  | 'absent'
  | 'not-a-regular-file'
  | 'empty'
  | 'wrong-size'
  | 'changed-since-verified'
  | 'unreadable'
  /** The process may open no more; says nothing of the file. */
  | 'out-of-descriptors'

/** A file that is open for somebody; its bytes stay readable when it is unlinked meanwhile (G2, G6). */
export interface OpenFile extends BlockSource {
  /** Valid until the release. Who reads from it asks afterwards whether the file is unchanged. */
  readonly descriptor: number
  /** Nobody cut it or wrote into it since it was opened. Takes two microseconds. */
  isUnchanged(): boolean
  /** Transfers that read it now. */
  readers(): number
  release(): void
}

export type OpenResult =
  | { readonly kind: 'open'; readonly file: OpenFile }
  | { readonly kind: 'problem'; readonly problem: FileProblem }

export interface OpenFiles {
  /**
   * Opens a file that is known. What is on disk is looked at each time, and again after each read, so a file that
   * vanished or changed is a problem even while an older transfer still reads it (G1, field case 83). A disk that
   * loses bytes silently is the scrubber's.
   */
  acquire(path: string, known: KnownFile): Promise<OpenResult>
}

/** What is known of a file: everything, from when it was verified, or at least its size and when it was written. */
export interface KnownFile {
  readonly sizeBytes: number
  /** Ms since the epoch. */
  readonly modifiedAt?: number
  readonly identity?: FileIdentity
}

/** Somebody cut the file or wrote into it while it was open. */
export class FileChangedError extends Error {
  constructor(path: string) {
    super(`${path} was changed while it was sent`)
    this.name = 'FileChangedError'
  }
}

interface Entry {
  readonly handle: Promise<FileHandle>
  readers: number
}

/** One descriptor for each file, shared by everybody who reads it, closed with its last reader. */
export function createOpenFiles(): OpenFiles {
  const entries = new Map<string, Entry>()

  async function acquire(path: string, known: KnownFile): Promise<OpenResult> {
    try {
      const stats = await lstat(path, { bigint: true })
      const problem = problemOf(stats, known)
      if (problem !== undefined) return { kind: 'problem', problem }
      const id = identityOf(stats)
      const entry = entries.get(id) ?? { handle: openExactly(path, id), readers: 0 }
      entries.set(id, entry)
      entry.readers += 1
      try {
        return { kind: 'open', file: openFile(path, stats, entry, await entry.handle) }
      } catch (error) {
        leave(id, entry)
        throw error
      }
    } catch (error) {
      return { kind: 'problem', problem: problemOfError(error as NodeJS.ErrnoException) }
    }
  }

  /** @param found as it was when it was judged, which may be a while before it is read */
  function openFile(path: string, found: BigIntStats, entry: Entry, handle: FileHandle): OpenFile {
    const id = identityOf(found)
    const isUnchanged = () => isAsOpened(fstatSync(handle.fd, { bigint: true }), found)
    let isReleased = false
    return {
      id,
      sizeBytes: Number(found.size),
      descriptor: handle.fd,
      isUnchanged,
      readers: () => entry.readers,
      async read(target, length, position) {
        for (let done = 0; done < length; ) {
          const { bytesRead } = await handle.read(target, done, length - done, position + done)
          if (bytesRead === 0) throw new FileChangedError(path)
          done += bytesRead
        }
        // Nothing that was written into the file leaves as if it had been verified (G1).
        if (!isUnchanged()) throw new FileChangedError(path)
      },
      release() {
        if (isReleased) return
        isReleased = true
        leave(id, entry)
      },
    }
  }

  function leave(id: string, entry: Entry): void {
    entry.readers -= 1
    if (entry.readers > 0) return
    if (entries.get(id) === entry) entries.delete(id)
    // A descriptor that was only read has nothing to lose on close.
    entry.handle.then((handle) => handle.close()).catch(() => undefined)
  }

  return { acquire }
}

/** Opens what was looked at, and nothing that took its place in between. */
async function openExactly(path: string, id: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    if (identityOf(await handle.stat({ bigint: true })) === id) return handle
    throw new Error(`${path} was replaced while it was opened`)
  } catch (error) {
    await handle.close()
    throw error
  }
}

function problemOfError({ code }: NodeJS.ErrnoException): FileProblem {
  if (code === 'ENOENT') return 'absent'
  return code === 'EMFILE' || code === 'ENFILE' ? 'out-of-descriptors' : 'unreadable'
}

function problemOf(
  stats: BigIntStats,
  { sizeBytes, modifiedAt, identity }: KnownFile,
): FileProblem | undefined {
  if (!stats.isFile()) return 'not-a-regular-file'
  if (stats.size === 0n) return 'empty'
  if (stats.size !== BigInt(sizeBytes)) return 'wrong-size'
  const isAsVerified =
    identity === undefined
      ? modifiedAt === undefined || Number(stats.mtimeMs) === Math.floor(modifiedAt)
      : fileIdentity(stats) === identity
  return isAsVerified ? undefined : 'changed-since-verified'
}

/** A file that was quarantined and fetched again has another inode or time, and so shares no cached block. */
function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${fileIdentity(stats)}`
}

/** A file that lost its name has changed and not its bytes: those who read it read on (G2, G6). */
function isAsOpened(now: BigIntStats, opened: BigIntStats): boolean {
  const isSameContent = now.size === opened.size && now.mtimeNs === opened.mtimeNs
  return isSameContent && (now.ctimeNs === opened.ctimeNs || now.nlink === 0n)
}
