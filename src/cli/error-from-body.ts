import { type ErrorCode, errorTexts, ServiceError } from '../core/errors.ts'

/** The error that the service answered with, as it was there; INTERNAL for a body that says nothing. */
export function errorFromBody(body: unknown): ServiceError {
  const { code, message, field, hint } = (body ?? {}) as Readonly<Record<string, unknown>>
  const known = typeof code === 'string' && Object.hasOwn(errorTexts, code) ? (code as ErrorCode) : 'INTERNAL'
  return new ServiceError(known, typeof message === 'string' ? message : undefined, {
    ...(typeof field === 'string' && { field }),
    ...(typeof hint === 'string' && { hint }),
  })
}
