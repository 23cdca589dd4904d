import { type ErrorCode, isServiceError, ServiceError } from '../../core/errors.ts'

/** A failure of one location; the message starts with where it was. */
export function unavailable(
  place: string,
  what: string,
  cause?: unknown,
  details: Record<string, unknown> = {},
): ServiceError {
  return new ServiceError('METADATA_UNAVAILABLE', `${place}: ${what}`, { place, ...details }, cause)
}

/** What was to be read is no document, before anybody looked into it. */
export function noDocument(place: string, found: string): ServiceError {
  const expected = 'a metadata document'
  return new ServiceError('METADATA_INVALID', `${place}: found ${found}, expected ${expected}`, {
    place,
    field: '',
    found,
    expected,
  })
}

/** Reads bytes, and says in a refusal where they came from. */
export function readAt<T>(place: string, read: (bytes: Uint8Array) => T, bytes: Uint8Array): T {
  try {
    return read(bytes)
  } catch (error) {
    if (!isServiceError(error, 'METADATA_INVALID')) throw error
    throw new ServiceError(error.code, `${place}: ${error.message}`, { ...error.details, place }, error)
  }
}

/** One error for several locations that failed: the last one is the canonical place and gives the code. */
export function allFailed(failures: readonly ServiceError[]): ServiceError {
  const last = failures.at(-1)
  if (last !== undefined && failures.length === 1) return last
  const code: ErrorCode = last?.code ?? 'METADATA_UNAVAILABLE'
  const text = failures.map(({ message }) => message).join('; ')
  return new ServiceError(code, text, { ...last?.details, attempts: failures.length }, last)
}
