import type { Sha256 } from '../core/digest.ts'
import { type ErrorCode, errorTexts, ServiceError } from '../core/errors.ts'
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

/** An error as data: structured cloning would lose the class and the code. */
export interface PlainError {
  readonly code?: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: PlainError
}

const deepestCause = 4

export function toPlainError(error: unknown, depth = 0): PlainError {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = (error as { code?: unknown }).code
  return {
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof ServiceError ? { details: plainDetails(error.details) } : {}),
    ...(error.cause === undefined || depth >= deepestCause
      ? {}
      : { cause: toPlainError(error.cause, depth + 1) }),
  }
}

export function fromPlainError({ code, message, details, cause }: PlainError): Error {
  const inner = cause && fromPlainError(cause)
  if (code !== undefined && isErrorCode(code)) return new ServiceError(code, message, { ...details }, inner)
  const error = new Error(message, inner && { cause: inner })
  return code === undefined ? error : Object.assign(error, { code })
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTexts, code)
}

/** Details are numbers and texts by custom; whatever else got in is dropped rather than failing the message. */
function plainDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(details)) as Record<string, unknown>
}
