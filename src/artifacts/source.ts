import type { Artifact } from '../core/artifact.ts'
import type { ServiceError } from '../core/errors.ts'
import type { AttemptOutcome } from './download-plan.ts'

/** Bytes from somewhere, about to flow. */
export interface Source {
  /** Where in the file the body starts: what was asked for, or 0 when that could not be had. */
  readonly startBytes: number
  readonly totalBytes?: number
  /** For `If-Range` the next time. */
  readonly validator?: string
  /** Something odd about the answer that would explain a wrong digest. */
  readonly suspicion?: string
  readonly body: AsyncIterable<Uint8Array>
  discard(): Promise<void>
}

export type OpenedSource =
  | { readonly kind: 'open'; readonly source: Source }
  /** The rest of our unfinished file cannot be had: ask again for the whole. */
  | { readonly kind: 'not-resumable' }
  | { readonly kind: 'failed'; readonly outcome: AttemptOutcome; readonly error: ServiceError }

export interface SourceRequest {
  readonly artifact: Artifact
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly revalidate: boolean
  readonly resume?: { readonly fromBytes: number; readonly validator: string; readonly totalBytes?: number }
  readonly signal: AbortSignal
}
