import type { DocumentRecord } from '../state/store.ts'
import type { RefreshedDocument } from '../streams/refresher.ts'

/** What the store keeps of a document besides its bytes. */
export function documentRecord(document: RefreshedDocument, now: number): DocumentRecord {
  const { digest, stream, url, bytes, metadata } = document
  return {
    digest,
    stream,
    format: metadata.format,
    source: url,
    label: metadata.label,
    sizeBytes: bytes.byteLength,
    firstSeenAt: now,
    lastSeenAt: now,
  }
}
