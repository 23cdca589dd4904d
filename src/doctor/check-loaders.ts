import type { Arch } from '../core/arch.ts'
import type { LoaderCatalogue, LoaderPlatform, ServedLoader } from '../core/loader.ts'
import { type Finding, findingsOf } from './finding.ts'

/** A loader that a host, group or profile asks for by name. */
export interface ChosenLoader {
  readonly name: string
  /** `profile worker`. */
  readonly by: string
}

export interface LoaderFacts {
  readonly catalogue: LoaderCatalogue
  /** What each kind of firmware is handed first when nobody chose another one. */
  readonly firstLoaders: Readonly<Partial<Record<LoaderPlatform, string>>>
  readonly chosen: readonly ChosenLoader[]
}

export interface LoadersWanted {
  /** Of all streams. */
  readonly architectures: readonly Arch[]
  /** We hand out loaders: DHCP or TFTP is on. */
  readonly handsOut: boolean
}

const { ok, note, warning, problem } = findingsOf('loaders')

/** Kinds of firmware that can start a kernel of an architecture, and what people call them. */
const platformsOf: Readonly<Record<Arch, readonly LoaderPlatform[]>> = {
  x86_64: ['bios', 'efi-x64'],
  aarch64: ['efi-arm64'],
  ppc64le: [],
  s390x: [],
}

const nameOf: Readonly<Record<LoaderPlatform, string>> = {
  bios: 'BIOS',
  'efi-x64': 'UEFI x64',
  'efi-arm64': 'UEFI arm64',
  'efi-ia32': 'UEFI IA32',
  'efi-arm32': 'UEFI arm32',
  'efi-riscv64': 'UEFI riscv64',
  'efi-loong64': 'UEFI loong64',
}

/** Whether each kind of firmware has its first loader, which of them are fit, and what was refused. */
export function checkLoaders(
  { catalogue, firstLoaders, chosen }: LoaderFacts,
  { architectures, handsOut }: LoadersWanted,
): readonly Finding[] {
  const platforms = [...new Set(architectures.flatMap((arch) => platformsOf[arch]))]
  const first = platforms.flatMap((platform) => {
    const name = firstLoaders[platform]
    if (name === undefined) return []
    const loader = catalogue.loaders.get(name)
    if (loader !== undefined) return [found(platform, loader)]
    const missing = catalogue.missing.find((candidate) => candidate.name === name)
    const remedy = missing?.remedy ?? 'put it into a directory of boot.loaders.directories'
    const what = `${nameOf[platform]}: there is no ${name}`
    return [handsOut ? problem(what, remedy) : note(what, remedy)]
  })
  const choices = chosen
    .filter(({ name }) => !isServed(catalogue, name))
    .map(({ name, by }) =>
      problem(
        `${by} asks for the loader ${name}, which is not there`,
        'put it into a directory of boot.loaders.directories, or take the choice out',
      ),
    )
  const refused = catalogue.refused.map(({ name, path, reason }) =>
    warning(`${name} is not served: ${path}: ${reason}`, 'replace that file, or take it away'),
  )
  const sets = [...catalogue.sets.values()].flatMap(({ name, directory, problems, architectures: able }) =>
    problems.length === 0
      ? [ok(`set ${name} boots ${able.join(', ')} under Secure Boot`)]
      : problems.map((text) =>
          problem(`set ${name}: ${text}`, `mend ${directory}, or take the set out of boot.loaders.sets`),
        ),
  )
  return [...first, ...choices, ...refused, ...sets]
}

function found(platform: LoaderPlatform, { name, kind, version, features, path }: ServedLoader): Finding {
  const what = [kind === 'unknown' ? undefined : kind, version].filter((part) => part !== undefined).join(' ')
  const text = `${nameOf[platform]}: ${name}${what === '' ? '' : `, ${what}`} (${path})`
  if (kind === 'ipxe' && features?.http === false)
    return warning(`${text} has no HTTP, which our scripts are fetched by`, 'use a build with HTTP')
  return ok(text)
}

function isServed({ loaders, sets }: LoaderCatalogue, name: string): boolean {
  const [first = '', second] = name.split('/')
  return second === undefined ? loaders.has(first) : sets.get(first)?.files.has(second) === true
}
