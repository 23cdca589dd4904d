import type { Artifact } from '../core/artifact.ts'
import type { Sha256 } from '../core/digest.ts'
import type { FileIdentity } from '../core/file-identity.ts'
import type { BlobStat } from './blob-store.ts'

export const signaturePolicies = ['off', 'if-present', 'required'] as const
export type SignaturePolicy = (typeof signaturePolicies)[number]

/** Everything needed to get one artifact. */
export interface FetchRequest {
  readonly artifact: Artifact
  /** Base URLs tried before `artifact.location`. */
  readonly mirrors: readonly string[]
  readonly signatures: SignaturePolicy
  /** Armored OpenPGP keys that this source's signatures may be made with; default: the fetcher's. */
  readonly trustedKeys?: readonly string[]
  /** Extra request headers for the origin of `artifact.location` (never sent to another origin). */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The artifact is a kernel for an architecture whose loaders may not unpack it (aarch64): if it is gzip, an
   * unpacked copy is stored beside it (field case 108).
   */
  readonly gunzip?: boolean
  /** The file as it was when it was last verified; any other that has its name is read before it is believed (G1). */
  readonly verifiedAs?: FileIdentity
}

/** The detached signature that is kept beside a blob, and was found good. */
export interface VerifiedSignature {
  /** Of the signature's own bytes. */
  readonly sha256: Sha256
  readonly identity: FileIdentity
}

export interface FetchedArtifact {
  readonly blob: BlobStat
  /** Set when a signature was checked and good. */
  readonly signature?: VerifiedSignature
  /** Set when the kernel was gzip and has been unpacked beside it. */
  readonly uncompressed?: BlobStat
}

export type FetchEvent =
  | {
      readonly type: 'started'
      readonly sha256: Sha256
      readonly url: string
      readonly resumedAtBytes: number
    }
  | {
      readonly type: 'progress'
      readonly sha256: Sha256
      readonly doneBytes: number
      readonly totalBytes?: number
      readonly bytesPerSecond: number
    }
  | { readonly type: 'verifying'; readonly sha256: Sha256 }
  | {
      readonly type: 'finished'
      readonly sha256: Sha256
      /** `present`: it was already there and nothing was fetched. */
      readonly outcome: 'fetched' | 'present' | 'failed' | 'aborted'
      readonly sizeBytes?: number
      readonly code?: string
    }

/** Gets artifacts into the blob store, one flight per digest, hashing in a worker thread. */
export interface Fetcher {
  /**
   * Resolves when the artifact is verified and durable. Parallel calls for one digest share one download;
   * a failure is not remembered.
   * @throws ServiceError ARTIFACT_*, SIGNATURE_*, UPSTREAM_*, SPACE_INSUFFICIENT, STORAGE_FAILED
   */
  fetch(request: FetchRequest, signal?: AbortSignal): Promise<FetchedArtifact>
  stop(): Promise<void>
}
