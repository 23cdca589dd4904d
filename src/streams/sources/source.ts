/** What a server said about a version of a document; given back to it, unread, to ask whether there is a newer one. */
export interface Validators {
  /** The URL that was asked: another location's validators mean nothing here. */
  readonly url: string
  readonly etag?: string
  readonly lastModified?: string
}

export interface SourceRequest<T> {
  /**
   * Reads the bytes as a document; a location whose bytes it refuses counts as failed, and the next one is tried.
   * @throws ServiceError METADATA_INVALID
   */
  readonly read: (bytes: Uint8Array) => T
  /** Past all mirrors, to confirm what they say. */
  readonly canonical?: boolean
  /** Of the last document that was read; absent to get the bytes in any case. */
  readonly since?: Validators
  /** From the place itself, past every cache on the way: what came by the last document did not fit it (case 142). */
  readonly fresh?: boolean
  readonly signal?: AbortSignal
}

interface Origin {
  /** URL or file path that answered, without credentials. */
  readonly url: string
  readonly viaMirror: boolean
}

export type SourceAnswer<T> =
  | (Origin & { readonly kind: 'unchanged' })
  | (Origin & {
      readonly kind: 'document'
      readonly bytes: Uint8Array
      readonly document: T
      readonly validators?: Validators
    })

/** Where a stream's metadata comes from. */
export interface MetadataSource {
  /** For people: without credentials. */
  readonly description: string
  /** Where relative locations in its documents start, unless the configuration says otherwise. */
  readonly baseUrl?: string
  /** `true` when an answer may have come from somewhere else than the canonical place. */
  readonly hasMirrors: boolean
  /**
   * @throws ServiceError METADATA_UNAVAILABLE when no location gave a document, METADATA_INVALID when what came is
   *   none; the message names the location. The signal's reason when it was aborted.
   */
  fetch<T>(request: SourceRequest<T>): Promise<SourceAnswer<T>>
  /** Calls `onChange` when there may be something new; the returned function ends it. */
  watch?(onChange: () => void): () => void
  close(): Promise<void>
}
