import type { Arch } from '../core/arch.ts'
import type { Artifact } from '../core/artifact.ts'
import type { Bootimage } from '../core/bootimage.ts'

export const metadataFormats = [
  'stream',
  'rhcos',
  'cosa-meta',
  'release',
  'release-index',
  'configmap',
] as const
export type MetadataFormat = (typeof metadataFormats)[number]

/** What one architecture of a document says about network boot, in one shape for every format. */
export interface ArchMetadata {
  readonly arch: Arch
  readonly release: string
  /** Kernel, initramfs, rootfs as `pxe` or `live-*`. */
  readonly live?: { readonly kernel: Artifact; readonly initramfs: Artifact; readonly rootfs?: Artifact }
  /** Kernel and initramfs as `installer-pxe` or the old `kernel`/`initramfs`; needs `disks`. */
  readonly installer?: { readonly kernel: Artifact; readonly initramfs: Artifact }
  readonly disks: readonly Artifact[]
}

/** Something about one architecture that cannot be used; the others still can. */
export interface MetadataProblem {
  readonly arch: Arch
  /** Path of the field in the document, e.g. `architectures.x86_64.artifacts.metal.formats.pxe.initramfs`. */
  readonly field: string
  readonly message: string
}

/** A document that names artifacts, whatever its format was. */
export interface Metadata {
  readonly format: Exclude<MetadataFormat, 'release-index'>
  /** The document's own `stream`; only a label. */
  readonly label?: string
  /** Ms since the epoch; for display and staleness, never for ordering. */
  readonly lastModified?: number
  readonly architectures: ReadonlyMap<Arch, ArchMetadata>
  readonly problems: readonly MetadataProblem[]
}

export interface ReleaseIndexEntry {
  readonly version: string
  /** URL of the release's `release.json`. */
  readonly metadata: string
}

export interface ReleaseIndex {
  readonly format: 'release-index'
  readonly label?: string
  readonly releases: readonly ReleaseIndexEntry[]
}

/** What the document's format leaves open and the configuration must say. */
export interface ParseHints {
  /** For documents without `baseURI` or absolute locations. */
  readonly baseUrl?: string
  /** Which of a ConfigMap's `streams` is meant; default: its only one, else `stream`. */
  readonly configMapStream?: string
  /** For old documents that do not name their architecture. */
  readonly arch?: Arch
}

/** A problem that keeps one architecture of a stream from having a bootimage. */
export interface Resolution {
  readonly bootimages: readonly Bootimage[]
  readonly problems: readonly MetadataProblem[]
}
