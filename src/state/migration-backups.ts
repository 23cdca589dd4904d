import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../core/errors.ts'
import { partialMark, writeBackup } from './backup.ts'

/** How many are kept; the oldest goes first. */
const kept = 3

const namePattern = /^state-v(\d+)-(\d{8}T\d{6}Z)(?:-\d+)?\.db$/

/**
 * Copies a database before a migration changes it, as `state-v<version>-<UTC time>.db`, and removes what is too many.
 * @throws ServiceError STATE_UNAVAILABLE when the copy cannot be made: then nothing may be changed either
 */
export function backUpBeforeMigration(options: {
  readonly source: string
  readonly directory: string
  readonly version: number
  readonly now: number
}): { readonly path: string } {
  const { source, directory, version, now } = options
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    chmodSync(directory, 0o700)
    const path = join(directory, freeName(directory, version, now))
    writeBackup({ source, target: path })
    for (const old of listMigrationBackups(directory).slice(kept)) rmSync(old, { force: true })
    removePartial(directory)
    return { path }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ServiceError(
      'STATE_UNAVAILABLE',
      `the state database is of version ${version} and must be changed for this program, and no copy of it could be made first: ${why}; nothing was changed, make room in ${directory} and start again, or run the program of before`,
      { directory, version },
      cause,
    )
  }
}

/** Absolute paths, the newest first. */
export function listMigrationBackups(directory: string): readonly string[] {
  let names: readonly string[]
  try {
    names = readdirSync(directory)
  } catch {
    return []
  }
  return names
    .flatMap((name) => {
      const [, , time] = namePattern.exec(name) ?? []
      return time === undefined ? [] : [{ name, time }]
    })
    .sort((a, b) => (a.time === b.time ? (a.name < b.name ? 1 : -1) : a.time < b.time ? 1 : -1))
    .map(({ name }) => join(directory, name))
}

/** Of a program that was killed in the middle. */
function removePartial(directory: string): void {
  for (const name of readdirSync(directory))
    if (name.startsWith('state-v') && name.includes(partialMark)) rmSync(join(directory, name))
}

function freeName(directory: string, version: number, now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const taken = new Set(listMigrationBackups(directory))
  const name = (extra: string) => `state-v${version}-${time}${extra}.db`
  for (let number = 1; ; number++) {
    const candidate = name(number === 1 ? '' : `-${number}`)
    if (!taken.has(join(directory, candidate))) return candidate
  }
}
