import type { Sha256 } from '../core/digest.ts'
import type { PlainError } from '../core/plain-error.ts'
import type { EngineResult, FetchEngineOptions } from './fetch-engine.ts'
import type { FetchEvent, FetchRequest } from './fetcher.ts'
import type { HashedBlob } from './hash-blob.ts'

/** What the worker thread is started with. */
export type WorkerOptions = FetchEngineOptions

/** From the service to the worker. `id` names a piece of work. */
export type WorkerRequest =
  | { readonly type: 'fetch'; readonly id: number; readonly request: FetchRequest }
  | { readonly type: 'hash'; readonly id: number; readonly sha256: Sha256; readonly bytesPerSecond?: number }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'close' }

/** From the worker to the service. */
export type WorkerReply =
  | { readonly type: 'event'; readonly id: number; readonly event: FetchEvent }
  | { readonly type: 'fetched'; readonly id: number; readonly result: EngineResult }
  | { readonly type: 'hashed'; readonly id: number; readonly found?: HashedBlob }
  | { readonly type: 'failed'; readonly id: number; readonly error: PlainError }
