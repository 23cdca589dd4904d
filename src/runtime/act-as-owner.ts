import { statSync } from 'node:fs'
import { ServiceError } from '../core/errors.ts'

/**
 * Root that works on the data directory of another user becomes that user, for good: no file of root is in the way of
 * the service afterwards, and no link that its user placed makes root write elsewhere.
 * @throws ServiceError PERMISSION_DENIED where this root may not
 */
export function actAsOwner(dataDirectory: string): void {
  if (process.geteuid?.() !== 0) return
  const owner = statSync(dataDirectory, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  const { uid, gid } = owner
  try {
    process.setgroups?.([gid])
    process.setgid?.(gid)
    process.setuid?.(uid)
  } catch (cause) {
    throw new ServiceError(
      'PERMISSION_DENIED',
      `${dataDirectory} belongs to user ${uid}, and this process may not become that user`,
      { path: dataDirectory, hint: `run this command as that user: sudo -u '#${uid}' …` },
      cause,
    )
  }
}
