import type { LoaderSet } from '../core/loader.ts'
import { secureBootPairs } from '../loaders/loader-names.ts'
import { readLoaderSet } from '../loaders/read-loader-set.ts'
import type { ConfigPath } from './config-path.ts'
import type { Reporter } from './layered-data.ts'
import { parseBootAddress, parseListenAddress } from './listen-address.ts'
import type { RawConfig } from './schema.ts'
import { suggestion } from './suggest.ts'

/** First parts of names that TFTP and HTTP read otherwise than as the name of a set. */
const takenNames: ReadonlySet<string> = new Set(['artifacts', 'grub', 'pxelinux.cfg', 'loaders'])
/** A Raspberry Pi asks in a directory of eight hex digits, its serial number (field case 81). */
const serialNumber = /^[0-9a-f]{8}$/i

/**
 * Reads the Secure Boot sets: a set that a stream names and that cannot boot it is a mistake here, with the reason
 * (DESIGN §9). Adds what it read to `files`, and returns what changes when one of them does.
 */
export function readLoaderSets(
  raw: RawConfig,
  absolute: (path: ConfigPath, written: string) => string,
  report: Reporter,
  files: string[],
): unknown {
  const sets = new Map<string, LoaderSet>()
  for (const [name, { directory }] of Object.entries(raw.boot.loaders.sets)) {
    const path: ConfigPath = ['boot', 'loaders', 'sets', name]
    if (takenNames.has(name) || serialNumber.test(name)) {
      report.problem(path, 'loaders ask for other things under this name; choose another', undefined, 'key')
      continue
    }
    const set = readLoaderSet(name, absolute([...path, 'directory'], directory))
    files.push(set.directory, ...[...set.files.values()].map((file) => file.path))
    sets.set(name, set)
    const isNamed = Object.values(raw.streams).some(({ loaderSet }) => loaderSet === name)
    for (const problem of set.problems) {
      if (isNamed) report.problem([...path, 'directory'], problem)
      else report.warn([...path, 'directory'], problem)
    }
    checkGrub(set, [...path, 'directory'], raw, report)
  }
  for (const [name, stream] of Object.entries(raw.streams)) checkStream(name, stream, raw, sets, report)
  return [...sets.values()].map(({ name, files: of }) => [
    name,
    ...[...of].map(([file, { sha256 }]) => [file, sha256]),
  ])
}

type RawStream = RawConfig['streams'][string]

function checkStream(
  name: string,
  { loaderSet, architectures }: RawStream,
  raw: RawConfig,
  sets: ReadonlyMap<string, LoaderSet>,
  report: Reporter,
): void {
  if (loaderSet === undefined) return
  const path: ConfigPath = ['streams', name, 'loaderSet']
  const known = Object.keys(raw.boot.loaders.sets)
  if (!known.includes(loaderSet)) {
    report.problem(path, `there is no loader set ${JSON.stringify(loaderSet)}`, suggestion(loaderSet, known))
    return
  }
  const set = sets.get(loaderSet)
  if (set === undefined || set.problems.length > 0) return
  const lacking = secureBootPairs.filter(
    ({ arch }) => architectures.includes(arch) && !set.architectures.includes(arch),
  )
  for (const { arch, shim } of lacking) {
    report.problem(path, `loader set ${loaderSet} has no ${shim}, and this stream is followed for ${arch}`)
  }
}

/** What GRUB cannot do although everything is signed. */
function checkGrub(set: LoaderSet, path: ConfigPath, raw: RawConfig, report: Reporter): void {
  const port = bootPort(raw)
  if (port !== undefined && port !== 80) {
    report.warn(
      path,
      `some builds of GRUB ask port 80, whatever they are told, and nodes fetch from port ${port}`,
    )
  }
  if (raw.boot.dhcp?.mode !== 'proxy') return
  for (const { grub } of secureBootPairs) {
    const version = set.files.get(grub)?.version
    if (version === undefined || !isBefore212(version)) continue
    report.warn(
      path,
      `${grub} is GRUB ${version}, which beside the DHCP server of a site asks that server for its configuration; 2.12 and later ask here`,
    )
  }
}

/** `2.06-13+deb12u1`; what does not begin with a version is not judged (field case 31; facts §7). */
function isBefore212(version: string): boolean {
  const match = /^(\d+)\.(\d+)/.exec(version)
  if (match === null) return false
  const [major, minor] = [Number(match[1]), Number(match[2])]
  return major < 2 || (major === 2 && minor < 12)
}

function bootPort({ boot }: RawConfig): number | undefined {
  const named = boot.address === undefined ? undefined : parseBootAddress(boot.address)?.port
  return named ?? parseListenAddress(boot.http.listen)?.port
}
