import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LoaderSet, RefusedLoader, ServedLoader } from '../core/loader.ts'
import { checkLoaderSet } from './check-loader-set.ts'
import type { LoaderInspection } from './inspect-loader.ts'
import { platformProblem } from './loader-fit.ts'
import { loaderNames, secureBootPairs } from './loader-names.ts'
import { readLoaderFile } from './read-loader-file.ts'
import { servedLoader } from './served-loader.ts'

/** Other files of a directory are served under their own names, up to so many. */
const maxFiles = 512
/** Plain names: no folder, no dot in front, nothing that a path or a URL would read otherwise. */
const plainName = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$/

/** Names of the regular entries of a directory that can be served; none for a directory that cannot be read. */
export function plainNamesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && plainName.test(entry.name))
      .map(({ name }) => name)
      .sort()
      .slice(0, maxFiles)
  } catch {
    return []
  }
}

/** Why a file may not be served under a name that says what it is. */
export function nameProblem(name: string, inspection: LoaderInspection): string | undefined {
  const known = loaderNames.find((row) => row.name === name)
  if (known?.platform !== undefined) return platformProblem(inspection, known.platform)
  if (!name.toLowerCase().endsWith('.efi')) return undefined
  return inspection.format === 'pe' && inspection.platform !== undefined ? undefined : 'it is no EFI program'
}

/** Reads the directory of a Secure Boot set: shim and GRUB under their usual names, all else under its own. */
export function readLoaderSet(name: string, directory: string): LoaderSet {
  const files = new Map<string, ServedLoader>()
  const inspections = new Map<string, LoaderInspection>()
  const refused: RefusedLoader[] = []
  const names = plainNamesIn(directory)
  const tried = new Set<string>()

  function take(as: string, from: string): void {
    if (files.has(as) || tried.has(`${as} ${from}`)) return
    tried.add(`${as} ${from}`)
    const path = join(directory, from)
    const file = readLoaderFile(path)
    if (file.kind === 'absent') return
    const reason = file.kind === 'refused' ? file.reason : nameProblem(as, file.inspection)
    if (file.kind === 'refused' || reason !== undefined) {
      refused.push({ name: as, path, reason: reason ?? '' })
      return
    }
    files.set(as, servedLoader(as, file))
    inspections.set(as, file.inspection)
  }

  for (const { name: as, candidates } of pairRows) {
    for (const candidate of candidates) if (names.includes(candidate)) take(as, candidate)
  }
  for (const as of names) take(as, as)

  const { architectures, problems } = checkLoaderSet(inspections)
  const unusable = refused
    .filter(({ name: of }) => pairRows.some((row) => row.name === of) && !files.has(of))
    .map(({ path, reason }) => `${path} is not served: ${reason}`)
  return { name, directory, files, refused, architectures, problems: [...unusable, ...problems] }
}

/** The rows of the table that a set is made of. */
const pairRows = loaderNames.filter(({ name }) =>
  secureBootPairs.some(({ shim, grub }) => name === shim || name === grub),
)
