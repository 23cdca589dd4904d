import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
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
  /** Valid until the release. */
  readonly descriptor: number
  /** Transfers that read it now. */
  readers(): number
  release(): void
}

export type OpenResult =
  | { readonly kind: 'open'; readonly file: OpenFile }
  | { readonly kind: 'problem'; readonly problem: FileProblem }

export interface OpenFiles {
  /**
   * Opens a file of which the size is known, and when it was written (ms since the epoch). What is on disk is looked
   * at each time, so a file that vanished or changed is a problem even while an older transfer still reads it (G1,
   * field case 83). Who writes into a file moves its time; a disk that loses bytes silently is the scrubber's.
   */
  acquire(path: string, sizeBytes: number, modifiedAt?: number): Promise<OpenResult>
}

/** The file ended although its size was checked: it was cut while it was open. */
export class FileCutError extends Error {
  constructor(path: string) {
    super(`${path} became shorter while it was sent`)
    this.name = 'FileCutError'
  }
}

interface Entry {
  readonly handle: Promise<FileHandle>
  readers: number
}

/** One descriptor for each file, shared by everybody who reads it, closed with its last reader. */
export function createOpenFiles(): OpenFiles {
  const entries = new Map<string, Entry>()

  async function acquire(path: string, sizeBytes: number, modifiedAt?: number): Promise<OpenResult> {
    try {
      const stats = await lstat(path)
      const problem = problemOf(stats, sizeBytes, modifiedAt)
      if (problem !== undefined) return { kind: 'problem', problem }
      const id = identityOf(stats)
      const entry = entries.get(id) ?? { handle: openExactly(path, id), readers: 0 }
      entries.set(id, entry)
      entry.readers += 1
      try {
        return { kind: 'open', file: openFile(path, id, sizeBytes, entry, await entry.handle) }
      } catch (error) {
        leave(id, entry)
        throw error
      }
    } catch (error) {
      return { kind: 'problem', problem: problemOfError(error as NodeJS.ErrnoException) }
    }
  }

  function openFile(path: string, id: string, sizeBytes: number, entry: Entry, handle: FileHandle): OpenFile {
    let isReleased = false
    return {
      id,
      sizeBytes,
      descriptor: handle.fd,
      readers: () => entry.readers,
      async read(target, length, position) {
        for (let done = 0; done < length; ) {
          const { bytesRead } = await handle.read(target, done, length - done, position + done)
          if (bytesRead === 0) throw new FileCutError(path)
          done += bytesRead
        }
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
    if (identityOf(await handle.stat()) === id) return handle
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

function problemOf(stats: Stats, sizeBytes: number, modifiedAt: number | undefined): FileProblem | undefined {
  if (!stats.isFile()) return 'not-a-regular-file'
  if (stats.size === 0) return 'empty'
  if (stats.size !== sizeBytes) return 'wrong-size'
  const isAsVerified = modifiedAt === undefined || Math.floor(stats.mtimeMs) === Math.floor(modifiedAt)
  return isAsVerified ? undefined : 'changed-since-verified'
}

/** A file that was quarantined and fetched again has another inode or time, and so shares no cached block. */
function identityOf({ dev, ino, mtimeMs, ctimeMs, size }: Stats): string {
  return `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`
}
