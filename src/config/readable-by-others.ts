import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const othersRead = 0o004
const othersEnter = 0o001

/**
 * Whether every user of this machine can read a file: it and all folders above it let them. A file that cannot be looked
 * at is none of theirs; where there are no such modes (Windows), nothing can be said.
 */
export function isReadableByOthers(path: string, platform: string = process.platform): boolean {
  if (platform === 'win32') return false
  try {
    const file = realpathSync(path)
    if ((statSync(file).mode & othersRead) === 0) return false
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if ((statSync(folder).mode & othersEnter) === 0) return false
      if (folder === dirname(folder)) return true
    }
  } catch {
    return false
  }
}
