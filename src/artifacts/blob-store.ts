import type { Sha256 } from '../core/digest.ts'
import type { FileIdentity } from '../core/file-identity.ts'
import type { VerifiedSignature } from './fetcher.ts'

export interface BlobStat {
  readonly sha256: Sha256
  readonly sizeBytes: number
  /** Ms since the epoch. */
  readonly modifiedAt: number
  /** Absolute path. */
  readonly path: string
  /** Of the file as it was looked at; where it was read, as it was then. */
  readonly identity: FileIdentity
}

/**
 * Files by the digest that was verified when they came in; we give nothing unverified a name in here (G7). Others may:
 * what lies here counts as verified only where its identity is the one that was recorded then (G1).
 */
export interface BlobStore {
  /** `undefined` when the blob is absent. Never follows a link, never answers for anything but a regular file. */
  stat(sha256: Sha256): Promise<BlobStat | undefined>
  list(): AsyncIterable<BlobStat>
  remove(sha256: Sha256): Promise<void>
  /** Takes a blob that failed a check out of service and keeps it with its reason. */
  quarantine(sha256: Sha256, reason: string): Promise<void>
  /** Moves what is no regular file off the names of a blob and its signature, out of the way of the right ones. */
  makeWay(sha256: Sha256): Promise<void>
  /** Where the verified detached signature of a blob is kept, whether or not there is one. */
  signaturePath(sha256: Sha256): string
  /** Of the file that is there; `undefined` when there is none, or something else. */
  statSignature(sha256: Sha256): Promise<FileIdentity | undefined>
  /** The same, after reading it. */
  readSignature(sha256: Sha256): Promise<VerifiedSignature | undefined>
  usedBytes(): Promise<number>
}
