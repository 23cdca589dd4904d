import type { Arch } from './arch.ts'
import type { Artifact } from './artifact.ts'
import type { Sha256 } from './digest.ts'

/**
 * `live`: kernel, initramfs and rootfs (or a self-contained initramfs) run from RAM.
 * `legacy-installer`: kernel and initramfs that write a disk image (RHCOS 4.1–4.5, FCOS before 2020).
 */
export type BootimageKind = 'live' | 'legacy-installer'

declare const bootimageIdBrand: unique symbol
/** `<stream>/<arch>/<release>/<first 16 digits of the set digest>`; stable, safe to show and to store. */
export type BootimageId = string & { readonly [bootimageIdBrand]: true }

/** The complete set of network-boot artifacts of one stream, architecture and release. */
export interface Bootimage {
  readonly id: BootimageId
  readonly stream: string
  readonly arch: Arch
  readonly release: string
  readonly kind: BootimageKind
  /** Digest over `setDigestText`; tells two publications of the same release apart. */
  readonly setDigest: Sha256
  readonly kernel: Artifact
  readonly initramfs: Artifact
  /** Absent: the initramfs is self-contained (early FCOS), or the kind is `legacy-installer`. */
  readonly rootfs?: Artifact
  /** Disk images that the set needs; empty for `live`. */
  readonly disks: readonly Artifact[]
}

/** All files of the set, in the order in which a node asks for them. */
export function artifactsOf(
  set: Pick<Bootimage, 'kernel' | 'initramfs' | 'rootfs' | 'disks'>,
): readonly Artifact[] {
  const { kernel, initramfs, rootfs, disks } = set
  return rootfs === undefined ? [kernel, initramfs, ...disks] : [kernel, initramfs, rootfs, ...disks]
}

/** The canonical text whose SHA-256 is the set digest: one `role[:variant] sha256` line per artifact. */
export function setDigestText(artifacts: readonly Artifact[]): string {
  return artifacts
    .map(({ role, variant, sha256 }) => `${variant === undefined ? role : `${role}:${variant}`} ${sha256}\n`)
    .sort()
    .join('')
}

export function bootimageId(stream: string, arch: Arch, release: string, setDigest: Sha256): BootimageId {
  return `${stream}/${arch}/${release}/${setDigest.slice(0, 16)}` as BootimageId
}
