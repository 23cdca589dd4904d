import { accessSync, constants, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { defaultReserveBytes } from '../../artifacts/space.ts'
import type { DataDirectoryFacts } from '../../doctor/check-data-directory.ts'
import type { DiskFacts } from '../../doctor/check-disk.ts'

/** Looks and makes nothing. */
export function lookAtDataDirectory(path: string): DataDirectoryFacts {
  const ownUid = process.getuid?.()
  const own = ownUid === undefined ? {} : { ownUid }
  const found = statOf(path)
  if (found === undefined) {
    return { path, kind: 'absent', isWritable: mayWrite(nearestExisting(path)), ...own }
  }
  return {
    path,
    kind: found.isDirectory() ? 'directory' : 'other',
    uid: found.uid,
    mode: found.mode & 0o777,
    isWritable: mayWrite(path),
    ...own,
  }
}

/** Of the place where the data directory is or will be. */
export async function lookAtDisk(path: string): Promise<DiskFacts | undefined> {
  try {
    const { bavail, bsize } = await statfs(nearestExisting(path))
    return { path, freeBytes: bavail * bsize, reserveBytes: defaultReserveBytes }
  } catch {
    return undefined
  }
}

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return statOf(path) !== undefined || parent === path ? path : nearestExisting(parent)
}

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
