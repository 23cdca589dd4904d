import type { Sha256 } from '../core/digest.ts'

export interface BlobStat {
  readonly sha256: Sha256
  readonly sizeBytes: number
  /** Ms since the epoch. */
  readonly modifiedAt: number
  /** Absolute path. */
  readonly path: string
}

/**
 * Complete, verified files by their digest. What is in here was verified when it came in; nothing unverified
 * ever has a name in here (G1, G7).
 */
export interface BlobStore {
  /** `undefined` when the blob is absent. Never follows a link, never answers for anything but a regular file. */
  stat(sha256: Sha256): Promise<BlobStat | undefined>
  list(): AsyncIterable<BlobStat>
  remove(sha256: Sha256): Promise<void>
  /** Takes a blob that failed a check out of service and keeps it with its reason. */
  quarantine(sha256: Sha256, reason: string): Promise<void>
  /** Where the verified detached signature of a blob is kept, whether or not there is one. */
  signaturePath(sha256: Sha256): string
  usedBytes(): Promise<number>
}
