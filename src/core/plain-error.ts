import { type ErrorCode, errorTexts, ServiceError } from './errors.ts'

/** An error as data, to be sent from one thread to another: structured cloning would lose the class and the code. */
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
