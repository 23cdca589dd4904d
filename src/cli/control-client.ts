import { errors, Pool } from 'undici'
import { type ErrorCode, errorTexts, isServiceError, ServiceError } from '../core/errors.ts'
import type { AdminOperations, Readiness } from '../http/admin/operations.ts'
import type { OfflineOperations } from '../runtime/service.ts'

/** Questions are answered from memory; one that takes longer than this will not be answered. */
const questionTimeoutMs = 30_000

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: object
  readonly body?: object
  /** No time limit: fetching and hashing take as long as they take. */
  readonly isWork?: boolean
  /** Statuses besides 200 whose body is an answer. */
  readonly alsoAnswers?: readonly number[]
}

/**
 * The operations of a running service, over the control socket in its data directory.
 * Its errors arrive as the ServiceErrors they were.
 * @throws ServiceError (from every operation) SERVICE_UNAVAILABLE when nothing answers any more
 */
export function createControlClient({ path }: { path: string }): OfflineOperations {
  // Several connections: progress is asked for while the work goes on.
  const pool = new Pool('http://localhost', { socketPath: path, connections: 4, pipelining: 1 })

  async function call<T>({ method, path: url, query, body, isWork, alsoAnswers = [] }: Call): Promise<T> {
    const timeout = isWork === true ? 0 : questionTimeoutMs
    try {
      const response = await pool.request({
        method,
        path: url,
        ...(query && { query: definedEntries(query) }),
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        headersTimeout: timeout,
        bodyTimeout: timeout,
      })
      const answer: unknown = await response.body.json()
      if (response.statusCode === 200 || alsoAnswers.includes(response.statusCode)) return answer as T
      throw errorFromBody(answer)
    } catch (error) {
      throw isServiceError(error) ? error : unavailable(path, error)
    }
  }
  const ask = <T>(url: string, query?: object) =>
    call<T>({ method: 'GET', path: url, ...(query && { query }) })
  const order = <T>(url: string, body: object) => call<T>({ method: 'POST', path: url, body, isWork: true })

  const operations: AdminOperations = {
    readiness: () => call<Readiness>({ method: 'GET', path: '/readyz', alsoAnswers: [503] }),
    async streams() {
      const { streams } = await ask<{ streams: Awaited<ReturnType<AdminOperations['streams']>> }>(
        '/api/v1/streams',
      )
      return streams
    },
    async bootimages(filter) {
      const { bootimages } = await ask<{ bootimages: Awaited<ReturnType<AdminOperations['bootimages']>> }>(
        '/api/v1/bootimages',
        filter,
      )
      return bootimages
    },
    loaders: () => ask('/api/v1/loaders'),
    explain: (query) => ask('/api/v1/explain', query),
    async render(query) {
      const { script } = await order<{ script: string }>('/api/v1/render', query)
      return script
    },
    sync: (request) => order('/api/v1/sync', request),
    verify: () => order('/api/v1/verify', {}),
    gc: (request) => order('/api/v1/gc', request),
    importDocument: (request) => order('/api/v1/import', request),
    reload: () => order('/api/v1/reload', {}),
  }
  return { operations, close: () => pool.destroy() }
}

function definedEntries(query: object): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

function errorFromBody(body: unknown): ServiceError {
  const { code, message, field, hint } = (body ?? {}) as Readonly<Record<string, unknown>>
  const known = typeof code === 'string' && Object.hasOwn(errorTexts, code) ? (code as ErrorCode) : 'INTERNAL'
  return new ServiceError(known, typeof message === 'string' ? message : undefined, {
    ...(typeof field === 'string' && { field }),
    ...(typeof hint === 'string' && { hint }),
  })
}

function unavailable(path: string, cause: unknown): ServiceError {
  const isSlow = cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError
  const what = isSlow ? 'does not answer in time' : 'has stopped answering'
  return new ServiceError('SERVICE_UNAVAILABLE', `the service at ${path} ${what}`, { path }, cause)
}
