import { lstatSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ServiceError } from '../core/errors.ts'
import { type Distrust, distrustOf, type OwnedPlace } from '../core/place-trust.ts'

/**
 * Refuses a data directory that others can change: they could plant state, keys of a socket and files. A link to it is
 * followed, because service managers make one (`DynamicUser=`). Gives back what is only worth a warning.
 * @throws ServiceError DATA_DIRECTORY_UNUSABLE with the command that mends it
 */
export function checkDirectoryTrust(path: string, ownUid: number): readonly string[] {
  const warnings: string[] = []
  const distrust = distrustOf(placeOf(path, statSync(path)), ownUid)
  if (distrust?.by === 'group') warnings.push(textOf(path, distrust))
  else if (distrust !== undefined) throw untrusted(path, distrust, ownUid)
  const exchange = exchangeable(path, ownUid)
  return exchange === undefined ? warnings : [...warnings, exchange]
}

/** Whoever may write into the directory above can put another in the place of ours. */
function exchangeable(path: string, ownUid: number): string | undefined {
  const parent = dirname(path)
  const stats = statSync(parent)
  // In a sticky directory, such as /tmp, nobody renames what is another's.
  if ((stats.mode & 0o1000) !== 0) return undefined
  const distrust = distrustOf(placeOf(parent, stats), ownUid)
  return distrust?.by === 'everybody'
    ? `${textOf(parent, distrust)}; ${path} can be exchanged for another`
    : undefined
}

/**
 * The same of something inside, which is no link: it may be left over from when the directory was open to others.
 * Nothing there is fine.
 * @throws ServiceError DATA_DIRECTORY_UNUSABLE
 */
export function checkPartTrust(path: string, ownUid: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (stats.isSymbolicLink()) {
    throw new ServiceError(
      'DATA_DIRECTORY_UNUSABLE',
      `${path} is a link, and nothing in a data directory is`,
      {
        path,
        hint: `look where it leads, then remove it: rm ${path}`,
      },
    )
  }
  const distrust = distrustOf(placeOf(path, stats), ownUid)
  if (distrust !== undefined && distrust.by !== 'group') throw untrusted(path, distrust, ownUid)
}

function placeOf(path: string, { uid, mode }: Stats): OwnedPlace {
  return { path, uid, mode: mode & 0o7777 }
}

function textOf(path: string, { why, fix }: Distrust): string {
  return `${path}: ${why}; close it: ${fix}`
}

function untrusted(path: string, { why, fix, by }: Distrust, ownUid: number): ServiceError {
  const or =
    by === 'owner'
      ? 'or run as its owner'
      : `or, where that cannot be changed, use a directory below it: --data-dir ${join(path, 'pilotlight')}`
  return new ServiceError(
    'DATA_DIRECTORY_UNUSABLE',
    `${path} is not safe to use: ${why}; what lies there is served and believed, so nobody else may change it`,
    { path, ownUid, hint: `${fix}; ${or}` },
  )
}
