import type { Arch } from './arch.ts'
import type { ArtifactRole } from './artifact.ts'
import type { Bootimage, BootimageId } from './bootimage.ts'
import type { BootimageFailure, BootimageState, PendingChange } from './bootimage-state.ts'
import type { Sha256 } from './digest.ts'
import type { FileIdentity } from './file-identity.ts'

/** A complete, verified file that may leave the service. */
export interface ServedFile {
  readonly sha256: Sha256
  /** For the URL and for people; the digest is what identifies it. */
  readonly name: string
  readonly role: ArtifactRole
  readonly sizeBytes: number
  /** Absolute path in the blob store. */
  readonly path: string
  /** Ms since the epoch, from the file; the same after a restart. */
  readonly modifiedAt: number
  /** Of the file as it was verified: bytes of any other are not sent (G1). */
  readonly identity: FileIdentity
  /** Path of the verified detached signature, where there is one. */
  readonly signaturePath?: string
  /** Of that file as it was verified. */
  readonly signatureIdentity?: FileIdentity
}

/** A bootimage all of whose files are verified. */
export interface ReadyBootimage {
  readonly bootimage: Bootimage
  readonly kernel: ServedFile
  /** The decompressed kernel, where `kernel` is gzip and a loader may not unpack it (aarch64). */
  readonly kernelUncompressed?: ServedFile
  readonly initramfs: ServedFile
  readonly rootfs?: ServedFile
  /** By variant (`metal`, `metal-bios`, …). */
  readonly disks: ReadonlyMap<string, ServedFile>
}

/** A bootimage that some document names, ready or not. */
export interface BootimageStatus {
  readonly bootimage: Bootimage
  readonly state: BootimageState
  readonly failure?: BootimageFailure
}

/** One stream for one architecture. */
export interface CatalogArch {
  readonly arch: Arch
  readonly current?: ReadyBootimage
  /** Newest first. */
  readonly previous: readonly ReadyBootimage[]
  /** What is current by its document, where it is not whole any more: a file failed a check and is fetched again. */
  readonly damaged?: BootimageStatus
  /** Handed out in its place. */
  readonly standIn?: ReadyBootimage
  /** Accepted, not ready yet. */
  readonly target?: BootimageStatus
  readonly pending?: PendingChange
  /** Every bootimage that could be pinned here, by release; the one whose digests a pin fixed, where one did. */
  readonly releases: ReadonlyMap<string, BootimageStatus>
}

/** What machines that follow the stream get now. */
export function handedOut({ current, standIn }: CatalogArch): ReadyBootimage | undefined {
  return current ?? standIn
}

/** How a stream's metadata source is doing. */
export interface StreamHealth {
  readonly lastSuccessAt?: number
  readonly lastAttemptAt?: number
  readonly failingSince?: number
  readonly error?: { readonly code: string; readonly message: string }
  /** Architectures whose part of the document could not be used, with the reason. */
  readonly problems: readonly { readonly arch: Arch; readonly message: string }[]
}

export interface CatalogStream {
  readonly name: string
  /** Followed by configuration. */
  readonly architectures: readonly Arch[]
  readonly byArch: ReadonlyMap<Arch, CatalogArch>
  /** The document's own label and date, for display. */
  readonly label?: string
  readonly lastModified?: number
  readonly health: StreamHealth
}

/** Immutable snapshot of everything that can be served now; readers never wait for it. */
export interface Catalog {
  /** Grows by one with every published snapshot. */
  readonly revision: number
  readonly streams: ReadonlyMap<string, CatalogStream>
  readonly ready: ReadonlyMap<BootimageId, ReadyBootimage>
  /** Every file that may be served, by digest, derived ones too. */
  readonly files: ReadonlyMap<Sha256, ServedFile>
  /** Files of bootimages that are wanted but not ready: asked for, they are 503, not 404. */
  readonly awaited: ReadonlySet<Sha256>
}

/** The source of snapshots; whoever holds one may keep it as long as it likes. */
export interface CatalogSource {
  current(): Catalog
}
