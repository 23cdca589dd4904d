import { type BigIntStats, constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ServiceError } from '../core/errors.ts'
import { fileIdentity } from '../core/file-identity.ts'
import type { DiskFile, FileUse, TftpFile } from './files.ts'
import { toNetascii } from './netascii.ts'
import type { TransferMode } from './packet.ts'

/** The bytes of a file as they are sent, from memory or read piece by piece. */
export interface Content {
  readonly sizeBytes: number
  /** Absent for what was made for one request. */
  readonly id?: string
  readonly use?: FileUse
  readonly source:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
    /** Fills `target` from `offset` to its end with what stands at `position`. */
    | { readonly kind: 'disk'; read(target: Buffer, offset: number, position: number): Promise<void> }
  /** Whoever opened it closes it, once. */
  close(): void
}

/** Converting a file needs all of it in memory; nothing that boots a machine is text of this size. */
const longestNetasciiBytes = 4 * 1024 * 1024

interface OpenedFile {
  readonly handle: FileHandle
  /** When it was opened. */
  readonly stats: BigIntStats
}

async function openRegular(file: DiskFile): Promise<OpenedFile> {
  // O_NONBLOCK: opening a pipe that took the file's place must not hang.
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    // Too many open files say nothing about this one.
    if (code !== 'EMFILE' && code !== 'ENFILE') file.onChanged?.()
    throw error
  })
  try {
    const stats = await handle.stat({ bigint: true })
    const isThisOne = file.identity === undefined || fileIdentity(stats) === file.identity
    if (stats.isFile() && stats.size === BigInt(file.sizeBytes) && isThisOne) return { handle, stats }
    file.onChanged?.()
    throw new ServiceError('STORAGE_FAILED', `${file.path} is not the file that was announced`, {
      path: file.path,
      expectedBytes: file.sizeBytes,
      foundBytes: Number(stats.size),
    })
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function readFully(
  { handle, stats }: OpenedFile,
  file: DiskFile,
  target: Buffer,
  offset: number,
  position: number,
): Promise<void> {
  let at = offset
  while (at < target.length) {
    const { bytesRead } = await handle.read(target, at, target.length - at, position + at - offset)
    if (bytesRead === 0) throw new ServiceError('STORAGE_FAILED', 'the file ended before its size')
    at += bytesRead
  }
  // A file that lost its name keeps its bytes; whatever else changes it may have changed those (G1).
  const now = fstatSync(handle.fd, { bigint: true })
  const isSameContent = now.size === stats.size && now.mtimeNs === stats.mtimeNs
  if (isSameContent && (now.ctimeNs === stats.ctimeNs || now.nlink === 0n)) return
  file.onChanged?.()
  throw new ServiceError('STORAGE_FAILED', `${file.path} was changed while it was sent`, { path: file.path })
}

/** A file that several transfers read through one descriptor, opened when the first byte is wanted. */
interface SharedFile {
  users: number
  handle?: Promise<OpenedFile>
  netascii?: Promise<Buffer>
}

/** Opens files for transfers; those of one id share their descriptor, and in `netascii` their converted bytes. */
export interface ContentOpener {
  /**
   * @throws ServiceError STORAGE_FAILED and node's own errors when a file has to be read at once and cannot be
   */
  open(file: TftpFile, mode: TransferMode): Promise<Content> | Content
}

export function createContentOpener(): ContentOpener {
  const shared = new Map<string, SharedFile>()

  function acquire(id: string): SharedFile {
    const entry = shared.get(id) ?? { users: 0 }
    shared.set(id, entry)
    entry.users += 1
    return entry
  }

  function release(id: string, entry: SharedFile): void {
    entry.users -= 1
    if (entry.users > 0) return
    if (shared.get(id) === entry) shared.delete(id)
    const { handle } = entry
    delete entry.handle
    handle?.then((opened) => opened.handle.close()).catch(() => {})
  }

  function handleOf(entry: SharedFile, file: DiskFile): Promise<OpenedFile> {
    if (entry.handle === undefined) {
      const opening = openRegular(file)
      entry.handle = opening
      opening.catch(() => {
        if (entry.handle === opening) delete entry.handle
      })
    }
    return entry.handle
  }

  function openDisk(file: DiskFile): Content {
    const entry = acquire(file.id)
    return {
      sizeBytes: file.sizeBytes,
      id: file.id,
      source: {
        kind: 'disk',
        async read(target, offset, position) {
          // A read that outlives its transfer keeps the descriptor until it is done.
          entry.users += 1
          try {
            await readFully(await handleOf(entry, file), file, target, offset, position)
          } finally {
            release(file.id, entry)
          }
        },
      },
      close: () => release(file.id, entry),
    }
  }

  async function openConverted(file: DiskFile): Promise<Content> {
    if (file.sizeBytes > longestNetasciiBytes) {
      throw new ServiceError('STORAGE_FAILED', `${file.path} is too long for a netascii transfer`)
    }
    const plain = openDisk(file)
    const entry = acquire(file.id)
    const close = () => {
      plain.close()
      release(file.id, entry)
    }
    try {
      entry.netascii ??= (async () => {
        const bytes = Buffer.allocUnsafeSlow(file.sizeBytes)
        if (plain.source.kind === 'disk') await plain.source.read(bytes, 0, 0)
        return toNetascii(bytes)
      })()
      const bytes = await entry.netascii
      return { sizeBytes: bytes.length, id: `${file.id} netascii`, source: { kind: 'memory', bytes }, close }
    } catch (error) {
      delete entry.netascii
      close()
      throw error
    }
  }

  return {
    open(file, mode) {
      if (file.kind === 'disk') return mode === 'octet' ? openDisk(file) : openConverted(file)
      const bytes = mode === 'octet' ? file.bytes : toNetascii(file.bytes)
      const { use } = file
      return { sizeBytes: bytes.length, ...(use && { use }), source: { kind: 'memory', bytes }, close() {} }
    },
  }
}
