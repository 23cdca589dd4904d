import { type ErrorCode, isServiceError, ServiceError } from '../../core/errors.ts'
import { nearestWord } from '../../core/nearest-word.ts'
import { type RequestSchema, schemaAt } from './schema-at.ts'
import type { ApiError } from './schemas/api-error.ts'

export interface ApiFailure {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: ApiError
}

/** Status of each error code; a new code does not compile without one. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  CONFIG_INVALID: 422,
  CONFIG_UNREADABLE: 422,
  DATA_DIRECTORY_LOCKED: 503,
  DATA_DIRECTORY_UNUSABLE: 500,
  STATE_NEWER_VERSION: 500,
  STATE_UNAVAILABLE: 503,
  LISTEN_FAILED: 500,
  METADATA_INVALID: 422,
  METADATA_UNAVAILABLE: 502,
  UPSTREAM_UNREACHABLE: 502,
  UPSTREAM_REFUSED: 502,
  UPSTREAM_STALLED: 504,
  ARTIFACT_DIGEST_MISMATCH: 502,
  ARTIFACT_EMPTY: 502,
  ARTIFACT_TRUNCATED: 502,
  ARTIFACT_TOO_LONG: 502,
  ARTIFACT_UNAVAILABLE: 502,
  SIGNATURE_MISSING: 502,
  SIGNATURE_INVALID: 502,
  SIGNATURE_KEY_EXPIRED: 502,
  SPACE_INSUFFICIENT: 507,
  STORAGE_FAILED: 500,
  TEMPLATE_INVALID: 422,
  TEMPLATE_RENDER_FAILED: 422,
  KERNEL_ARGUMENT_INVALID: 422,
  NOT_FOUND: 404,
  CONFLICT: 409,
  REVISION_DIFFERS: 412,
  UNAUTHENTICATED: 401,
  RATE_LIMITED: 429,
  BACKUP_INVALID: 422,
  USAGE: 400,
  PERMISSION_DENIED: 403,
  FORBIDDEN: 403,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL: 500,
}

const internalFailure: ApiFailure = {
  status: 500,
  body: {
    code: 'INTERNAL',
    message: 'something unexpected went wrong inside',
    hint: 'the service log has the details',
  },
}

/** The parts of a framework error that matter here. */
interface FrameworkError {
  readonly statusCode?: unknown
  readonly validation?: readonly ValidationProblem[]
  readonly validationContext?: string
  readonly message?: unknown
}

interface ValidationProblem {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** For how long a caller should leave a store alone that does not answer. */
const storeRetrySeconds = 5

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/**
 * Any thrown thing as an answer. What is not a ServiceError and not the client's mistake becomes INTERNAL without a
 * word about the inside.
 * @param schema of the refused part of the request, for the names and words that are allowed there
 */
export function toApiFailure(error: unknown, schema?: RequestSchema): ApiFailure {
  if (isServiceError(error)) {
    const { field, hint } = error.details
    return {
      status: statuses[error.code],
      ...headersOf(error),
      body: {
        code: error.code,
        message: error.message,
        ...(isText(field) && { field }),
        ...(isText(hint) && { hint }),
      },
    }
  }
  if (typeof error !== 'object' || error === null) return internalFailure
  const { statusCode, validation, validationContext, message } = error as FrameworkError
  const [problem] = validation ?? []
  if (problem !== undefined) return validationFailure(problem, validationContext ?? 'request', schema)
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 && isText(message)) {
    return { status: statusCode, body: { code: 'USAGE', message } }
  }
  return internalFailure
}

/** RFC 9110 §10.2.3 for what may go better later, §11.6.1 for what needs a credential. */
function headersOf({ code, details }: ServiceError): Pick<ApiFailure, 'headers'> {
  const { retryAfterSeconds, challenge } = details
  if (typeof retryAfterSeconds === 'number') return { headers: { 'retry-after': String(retryAfterSeconds) } }
  if (isText(challenge)) return { headers: { 'www-authenticate': challenge } }
  return statuses[code] === 503 ? { headers: { 'retry-after': String(storeRetrySeconds) } } : {}
}

const nouns: Readonly<Record<string, string>> = {
  querystring: 'parameter',
  params: 'part of the URL:',
  headers: 'header',
}

function validationFailure(
  problem: ValidationProblem,
  context: string,
  schema: RequestSchema | undefined,
): ApiFailure {
  const noun = nouns[context] ?? 'field'
  const place = problem.instancePath.replace(/^\//, '').replaceAll('/', '.')
  const inside = (name: string) => (place === '' ? name : `${place}.${name}`)
  const { additionalProperty, missingProperty, allowedValues } = problem.params
  if (isText(additionalProperty)) {
    const allowed = Object.keys(schemaAt(schema, problem.instancePath)?.properties ?? {})
    const meant = nearestWord(additionalProperty, allowed)
    const guess = meant === undefined ? '' : `did you mean ${JSON.stringify(meant)}? `
    return usageFailure(`unknown ${noun} ${JSON.stringify(additionalProperty)}`, {
      field: inside(additionalProperty),
      hint: allowed.length > 0 ? `${guess}allowed: ${allowed.join(', ')}` : `there are no ${noun}s here`,
    })
  }
  if (isText(missingProperty)) {
    const name = inside(missingProperty)
    return usageFailure(`${noun} ${name} is missing`, { field: name })
  }
  return usageFailure(`${place === '' ? `the ${context}` : `${noun} ${place}`} ${wrongness(problem)}`, {
    ...(place !== '' && { field: place }),
    ...(Array.isArray(allowedValues) && { hint: `allowed: ${allowedValues.join(', ')}` }),
  })
}

/** A pattern is nothing to read; the only ones in requests keep a text to one line. */
function wrongness({ keyword, message }: ValidationProblem): string {
  if (keyword === 'pattern') return 'must be one line without control characters'
  return message ?? 'is not valid'
}

function usageFailure(message: string, more: { field?: string; hint?: string }): ApiFailure {
  return { status: 400, body: { code: 'USAGE', message, ...more } }
}

/** A mistake in one named input. */
export function usageError(message: string, details: { field?: string; hint?: string }): ServiceError {
  return new ServiceError('USAGE', message, details)
}
