import type { Arch } from './arch.ts'
import type { Sha256 } from './digest.ts'

/** What kind of firmware can start a loader; DHCP's ladder uses the same words. */
export const loaderPlatforms = [
  'bios',
  'efi-x64',
  'efi-arm64',
  'efi-ia32',
  'efi-arm32',
  'efi-riscv64',
  'efi-loong64',
] as const
export type LoaderPlatform = (typeof loaderPlatforms)[number]

export const loaderKinds = ['ipxe', 'grub', 'shim', 'pxelinux', 'unknown'] as const
export type LoaderKind = (typeof loaderKinds)[number]

/** What could be seen in the bytes of a loader. A compressed one shows nothing, which is not the same as having nothing. */
export interface LoaderFeatures {
  readonly http: boolean
  readonly https: boolean
  /** The `vcreate` command of iPXE (field case 167). */
  readonly vlan: boolean
}

export interface LoaderSigner {
  readonly name: string
  readonly issuer: string
}

const archOfPlatform: Readonly<Partial<Record<LoaderPlatform, Arch>>> = {
  bios: 'x86_64',
  'efi-x64': 'x86_64',
  'efi-arm64': 'aarch64',
}

/** Whose kernels a loader starts; `undefined` where its bytes do not say, or no kernel of ours is for it. */
export function archOfLoader({ platform }: Pick<ServedLoader, 'platform'>): Arch | undefined {
  return platform === undefined ? undefined : archOfPlatform[platform]
}

/** A loader binary as it is served. It is read again for each client: who changes it changes its time and its digest. */
export interface ServedLoader {
  /** The name under which TFTP and HTTP serve it. */
  readonly name: string
  /** Absolute, with no link in it. */
  readonly path: string
  readonly sizeBytes: number
  /** Ms since the epoch, from the file. */
  readonly modifiedAt: number
  readonly sha256: Sha256
  readonly kind: LoaderKind
  /** Absent: not for a certain firmware (a module, firmware of a board). */
  readonly platform?: LoaderPlatform
  readonly version?: string
  /** Absent: nothing can be seen, because the loader is compressed or of no known kind. */
  readonly features?: LoaderFeatures
  /** Who signed it for Secure Boot. */
  readonly signer?: LoaderSigner
}

/** A file that has the name of a loader and is not served, with the reason. */
export interface RefusedLoader {
  readonly name: string
  readonly path: string
  readonly reason: string
}

/** A name for which there is no file, with what supplies it. */
export interface MissingLoader {
  readonly name: string
  readonly platform: LoaderPlatform
  readonly remedy: string
}

/** shim, the GRUB beside it and what else one signer supplies, in a directory of their own (DESIGN §9). */
export interface LoaderSet {
  readonly name: string
  readonly directory: string
  /** By name. */
  readonly files: ReadonlyMap<string, ServedLoader>
  readonly refused: readonly RefusedLoader[]
  /** Architectures with a shim and a GRUB that fit each other. */
  readonly architectures: readonly Arch[]
  /** Why it cannot do what it is for; empty when it can. */
  readonly problems: readonly string[]
}

/** Every loader that can be fetched; immutable. */
export interface LoaderCatalogue {
  /** By the name under which each is served. */
  readonly loaders: ReadonlyMap<string, ServedLoader>
  readonly sets: ReadonlyMap<string, LoaderSet>
  readonly refused: readonly RefusedLoader[]
  readonly missing: readonly MissingLoader[]
}

export interface LoaderSource {
  current(): LoaderCatalogue
}

export const noLoaders: LoaderCatalogue = {
  loaders: new Map(),
  sets: new Map(),
  refused: [],
  missing: [],
}

/**
 * The loader behind the parts of a name: `ipxe.efi`, or `fedora/shimx64.efi` for one of a set. `undefined` for
 * whatever else.
 */
export function findLoader(catalogue: LoaderCatalogue, parts: readonly string[]): ServedLoader | undefined {
  const [first = '', second, ...rest] = parts
  if (rest.length > 0) return undefined
  return second === undefined ? catalogue.loaders.get(first) : catalogue.sets.get(first)?.files.get(second)
}
