import { join } from 'node:path'
import type {
  LoaderCatalogue,
  LoaderSet,
  MissingLoader,
  RefusedLoader,
  ServedLoader,
} from '../core/loader.ts'
import { platformProblem } from './loader-fit.ts'
import { defaultLoaderDirectories, type LoaderName, loaderNames, secureBootPairs } from './loader-names.ts'
import { type LoaderFileResult, readLoaderFile } from './read-loader-file.ts'
import { nameProblem, plainNamesIn, readLoaderSet } from './read-loader-set.ts'
import { servedLoader } from './served-loader.ts'

export interface LoaderDirectories {
  /** An admin's own, looked through first; everything in them that can be served is. */
  readonly directories: readonly string[]
  /** Secure Boot sets by name. */
  readonly sets: ReadonlyMap<string, string>
  /** Default: where Debian's and Fedora's packages put theirs; of these only the names of the table are served. */
  readonly defaults?: readonly string[]
}

/**
 * Reads every loader there is. For each name of the table the first file that fits it is served: an admin's before a
 * package's, the very build before one that stands in for it. What does not fit is told with the reason (field case 14).
 */
export function readLoaderCatalogue({
  directories,
  sets,
  defaults = defaultLoaderDirectories,
}: LoaderDirectories): LoaderCatalogue {
  const places = [...new Set([...directories, ...defaults])]
  const loaders = new Map<string, ServedLoader>()
  const missing: MissingLoader[] = []
  const refused: RefusedLoader[] = []
  const read = remembering(readLoaderFile)

  for (const row of loaderNames) {
    const found = findFor(row, places, read, refused)
    if (found !== undefined) loaders.set(row.name, found)
    else if (row.platform !== undefined) {
      missing.push({ name: row.name, platform: row.platform, remedy: row.remedy })
    }
  }
  for (const directory of directories) {
    for (const name of plainNamesIn(directory)) {
      if (loaders.has(name) || loaderNames.some((row) => row.name === name)) continue
      const path = join(directory, name)
      const file = read(path)
      if (file.kind === 'absent') continue
      const reason = file.kind === 'refused' ? file.reason : nameProblem(name, file.inspection)
      if (file.kind === 'file' && reason === undefined) loaders.set(name, servedLoader(name, file))
      else refused.push({ name, path, reason: reason ?? '' })
    }
  }
  const readSets = [...sets].map(([name, directory]): [string, LoaderSet] => [
    name,
    readLoaderSet(name, directory),
  ])
  const found = pairsOfOnlySet(readSets.map(([, set]) => set))
  for (const loader of found) loaders.set(loader.name, loader)
  return {
    loaders,
    sets: new Map(readSets),
    refused,
    missing: missing.filter(({ name }) => !loaders.has(name)),
  }
}

/**
 * A shim that was not told its folder asks for its GRUB at the root (field case 26). Where there is one set, that is
 * the one it means; a GRUB of another signer it would refuse.
 */
function pairsOfOnlySet(sets: readonly LoaderSet[]): readonly ServedLoader[] {
  const [only, ...others] = sets
  if (only === undefined || others.length > 0) return []
  return secureBootPairs
    .filter(({ arch }) => only.architectures.includes(arch))
    .flatMap(({ shim, grub }) => [only.files.get(shim), only.files.get(grub)])
    .filter((loader) => loader !== undefined)
}

function findFor(
  row: LoaderName,
  places: readonly string[],
  read: (path: string) => LoaderFileResult,
  refused: RefusedLoader[],
): ServedLoader | undefined {
  for (const files of [row.candidates, row.standIns]) {
    for (const path of places.flatMap((place) => files.map((file) => join(place, file)))) {
      const file = read(path)
      if (file.kind === 'absent') continue
      const reason = file.kind === 'refused' ? file.reason : problemFor(row, file)
      if (file.kind === 'file' && reason === undefined) return servedLoader(row.name, file)
      // What is wrong with a stand-in is told under its own name.
      if (files === row.candidates) refused.push({ name: row.name, path, reason: reason ?? '' })
    }
  }
  return undefined
}

function problemFor(
  { platform }: LoaderName,
  { inspection }: Extract<LoaderFileResult, { readonly kind: 'file' }>,
): string | undefined {
  return platform === undefined ? undefined : platformProblem(inspection, platform)
}

/** One file stands behind several names; it is read once. */
function remembering(read: (path: string) => LoaderFileResult): (path: string) => LoaderFileResult {
  const results = new Map<string, LoaderFileResult>()
  return (path) => {
    const known = results.get(path) ?? read(path)
    results.set(path, known)
    return known
  }
}
