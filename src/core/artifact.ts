import type { Sha256 } from './digest.ts'

export type ArtifactRole = 'kernel' | 'initramfs' | 'rootfs' | 'disk'

/** One file that metadata names. Names and locations are the document's, never built from parts. */
export interface Artifact {
  readonly role: ArtifactRole
  /** The file name at the end of `location`; for display and for the last part of our URLs. */
  readonly name: string
  /** Which disk image this is (`metal`, `metal-bios`, `metal-uefi`, `metal4k`, `dasd`, …); only for role `disk`. */
  readonly variant?: string
  /** Over the file as it is served (compressed, where it is). */
  readonly sha256: Sha256
  /** Absolute http(s) or file URL. */
  readonly location: string
  /** Only some documents say it. */
  readonly sizeBytes?: number
  readonly uncompressedSha256?: Sha256
  /** Absolute URL of a detached OpenPGP signature. It may be dead: only a good answer from it means anything. */
  readonly signature?: string
}
