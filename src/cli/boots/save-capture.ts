import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { ServiceError } from '../../core/errors.ts'

/**
 * Writes a file for its owner alone (mode 0600). What is there is replaced whole, or stays as it is.
 * @throws ServiceError CONFLICT when it is there and must not be replaced, STORAGE_FAILED when it cannot be written
 */
export function saveCapture(
  path: string,
  bytes: Uint8Array,
  { mayReplace }: { readonly mayReplace: boolean },
): void {
  const target = mayReplace ? `${path}.${randomUUID().slice(0, 8)}` : path
  try {
    // Never through a link that somebody put there.
    writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 })
    if (mayReplace) renameSync(target, path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new ServiceError('CONFLICT', `${path} is there already`, {
        path,
        hint: 'choose another name, or write over it with --force',
      })
    }
    rmSync(target, { force: true })
    const why = error instanceof Error ? error.message : String(error)
    throw new ServiceError('STORAGE_FAILED', `${path} cannot be written: ${why}`, { path }, error)
  }
}
