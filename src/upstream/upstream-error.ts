import { ServiceError } from '../core/errors.ts'
import { displayUrl } from './display-url.ts'
import { AddressRefusedError } from './guarded-lookup.ts'

const stallCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/**
 * The service's word for a failure of the HTTP client below us.
 * @param step what was being done, as in `<step> <url>: <why>`; `details.why` is the last part alone
 */
export function upstreamError(step: string, url: URL, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const at = displayUrl(url)
  const refused = causesOf(cause).find((error) => error instanceof AddressRefusedError)
  if (refused instanceof AddressRefusedError) return addressRefused(url, refused.message)
  const { code, text } = describe(cause)
  if (code !== undefined && stallCodes.has(code)) {
    return new ServiceError(
      'UPSTREAM_STALLED',
      `${step} ${at}: no progress in time`,
      { url: at, step, code, why: 'no progress in time' },
      cause,
    )
  }
  return new ServiceError(
    'UPSTREAM_UNREACHABLE',
    `${step} ${at}: ${text}`,
    { url: at, step, code, why: text },
    cause,
  )
}

export function addressRefused(url: URL, why: string): ServiceError {
  const at = displayUrl(url)
  return new ServiceError(
    'UPSTREAM_REFUSED',
    `connecting to ${at}: ${why}, and ${url.origin} is not an address an admin wrote down`,
    { url: at, step: 'connecting to', origin: url.origin, why },
  )
}

/** Node joins the failures of several addresses in one error without a text of its own. */
function describe(error: unknown): { code?: string; text: string } {
  const chain = causesOf(error)
  const withCode = chain.find((entry) => typeof (entry as { code?: unknown }).code === 'string')
  const code = (withCode as { code?: string } | undefined)?.code
  const text = chain.find((entry) => entry.message !== '')?.message ?? 'the connection failed'
  return {
    ...(code === undefined ? {} : { code }),
    text: code === undefined || text.includes(code) ? text : `${text} (${code})`,
  }
}

function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  return [error, ...inner.flatMap(causesOf), ...causesOf(error.cause)]
}
