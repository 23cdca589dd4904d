import { join } from 'node:path'
import { parseSha256, type Sha256 } from '../core/digest.ts'

/**
 * Where everything lies below the data directory:
 *
 * ```
 * <data>/
 * ├── artifacts/
 * │   ├── sha256/ab/<64 hex>            read-only, complete, verified; nothing else ever has a name here
 * │   └── signatures/<64 hex>.sig       the detached signature of that blob, kept once it was found good
 * ├── incoming/
 * │   ├── <64 hex>.<random>             being written; the digest is the one that is hoped for
 * │   └── <64 hex>.<random>.resume      where it came from and its validator, so that it can be continued
 * └── quarantine/
 *     ├── <64 hex>                      a blob that failed a check
 *     └── <64 hex>.reason               why, and when, as JSON
 * ```
 *
 * 256 shards keep a directory listing short on any file system. All of it is on one file system, so that a rename
 * is atomic.
 */
export interface Layout {
  readonly dataDirectory: string
  readonly artifacts: string
  readonly blobs: string
  readonly signatures: string
  readonly incoming: string
  readonly quarantine: string
  shard(sha256: Sha256): string
  blob(sha256: Sha256): string
  signature(sha256: Sha256): string
  /** @param random characters that no other write of this digest has */
  incomingFile(sha256: Sha256, random: string): string
  resumeNote(incomingFile: string): string
  quarantined(sha256: Sha256): string
  quarantineReason(sha256: Sha256): string
}

export function layoutOf(dataDirectory: string): Layout {
  const artifacts = join(dataDirectory, 'artifacts')
  const blobs = join(artifacts, 'sha256')
  const signatures = join(artifacts, 'signatures')
  const incoming = join(dataDirectory, 'incoming')
  const quarantine = join(dataDirectory, 'quarantine')
  const shard = (sha256: Sha256) => join(blobs, sha256.slice(0, 2))
  return {
    dataDirectory,
    artifacts,
    blobs,
    signatures,
    incoming,
    quarantine,
    shard,
    blob: (sha256) => join(shard(sha256), sha256),
    signature: (sha256) => join(signatures, `${sha256}.sig`),
    incomingFile: (sha256, random) => join(incoming, `${sha256}.${random}`),
    resumeNote: (incomingFile) => `${incomingFile}.resume`,
    quarantined: (sha256) => join(quarantine, sha256),
    quarantineReason: (sha256) => join(quarantine, `${sha256}.reason`),
  }
}

/** Every directory of the layout, parents first. */
export function directoriesOf(layout: Layout): readonly string[] {
  const { dataDirectory, artifacts, blobs, signatures, incoming, quarantine } = layout
  return [dataDirectory, artifacts, blobs, signatures, incoming, quarantine]
}

export interface IncomingName {
  readonly sha256: Sha256
  readonly isResumeNote: boolean
}

/** What a name in `incoming` stands for; `undefined` for a name that is not ours. */
export function parseIncomingName(name: string): IncomingName | undefined {
  const match = /^([0-9a-f]{64})\.[0-9a-z]+(\.resume)?$/.exec(name)
  const sha256 = parseSha256(match?.[1] ?? '')
  return sha256 && { sha256, isResumeNote: match?.[2] !== undefined }
}
