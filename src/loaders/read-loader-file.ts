import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { parseSha256, type Sha256 } from '../core/digest.ts'
import { inspectLoader, type LoaderInspection } from './inspect-loader.ts'

/** A loader's bytes as they were when they were read. */
export interface LoaderFile {
  readonly kind: 'file'
  /** Absolute, with no link in it. */
  readonly path: string
  readonly sizeBytes: number
  /** Ms since the epoch. */
  readonly modifiedAt: number
  readonly sha256: Sha256
  readonly inspection: LoaderInspection
}

export type LoaderFileResult =
  | LoaderFile
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string }

/** The largest loaders are GRUB's, with some megabytes. */
const maxLoaderBytes = 64 * 1024 * 1024

/**
 * Reads and inspects one file. A link is followed only to what is recognisably a loader (Debian's `ipxe.efi` leads to
 * `/boot`), so that no link makes another file of this machine public. Devices, pipes and empty files are refused
 * (field case 83). Synchronous: it is for the start and for reloads, with some twenty files of a few megabytes.
 */
export function readLoaderFile(path: string): LoaderFileResult {
  try {
    const isLink = lstatSync(path).isSymbolicLink()
    const place = realpathSync(path)
    const file = readRegularFile(place)
    if (file.kind !== 'file') return file
    if (isLink && file.inspection.format === 'other') return refused('it is a link to what is no loader')
    return file
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return linkOrAbsent(path)
    if (code === 'EACCES' || code === 'EPERM') return refused('this user may not read it')
    if (code === 'ELOOP') return refused('it is a link that leads to itself')
    return refused(`it cannot be read (${code ?? 'unknown error'})`)
  }
}

function readRegularFile(path: string): LoaderFileResult {
  // O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return refused('it is no regular file')
    if (stats.size === 0) return refused('it is empty')
    if (stats.size > maxLoaderBytes) return refused('it is too large for a loader')
    const bytes = Buffer.allocUnsafe(stats.size)
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(descriptor, bytes, at, bytes.length - at, at)
      if (read === 0) return refused('it became shorter while it was read')
      at += read
    }
    const sha256 = parseSha256(createHash('sha256').update(bytes).digest('hex')) as Sha256
    const { size, mtimeMs } = stats
    return {
      kind: 'file',
      path,
      sizeBytes: size,
      modifiedAt: Math.floor(mtimeMs),
      sha256,
      inspection: inspectLoader(bytes),
    }
  } finally {
    closeSync(descriptor)
  }
}

function linkOrAbsent(path: string): LoaderFileResult {
  try {
    lstatSync(path)
    return refused('it is a link that leads nowhere')
  } catch {
    return { kind: 'absent' }
  }
}

function refused(reason: string): LoaderFileResult {
  return { kind: 'refused', reason }
}
