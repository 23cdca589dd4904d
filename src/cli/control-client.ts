import { setTimeout } from 'node:timers/promises'
import { errors, Pool } from 'undici'
import { ServiceError } from '../core/errors.ts'
import { silentFeed } from '../core/service-event.ts'
import type { AdminOperations } from '../http/admin/operations.ts'
import { Readiness } from '../http/admin/schemas/service.ts'
import { serviceEndpoints } from '../http/admin/service-endpoints.ts'
import { askByTable } from './ask-by-table.ts'
import { createBootClient } from './boot-client.ts'
import { errorFromBody } from './error-from-body.ts'
import { createFleetClient } from './fleet-client.ts'
import type { RunningService } from './follow.ts'
import { createFollow } from './follow-service.ts'
import type { Reader } from './read-value.ts'
import { schemaReader } from './schema-reader.ts'

/** Questions are answered from memory; one that takes longer than this will not be answered. */
const questionTimeoutMs = 30_000

/** Real answers have some kilobytes; a list of ten thousand bootimages has ten million. */
const largestAnswerBytes = 64 * 2 ** 20

/** Done, and there is nothing to say. */
const noContent = 204
const good: readonly number[] = [200, 201, noContent]

interface Call<T> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  /** Looks at the answer: whoever is behind the socket may say anything. */
  readonly read: Reader<T>
  readonly query?: object
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** No time limit: fetching and hashing take as long as they take. */
  readonly isWork?: boolean
  /** Statuses of failures whose body is an answer. */
  readonly alsoAnswers?: readonly number[]
}

/**
 * The operations of a running service, over the control socket in its data directory.
 * Its errors arrive as the ServiceErrors they were.
 * @throws ServiceError (from every operation) SERVICE_UNAVAILABLE when nothing answers any more, or something that is no
 *   pilotlight of this version
 */
export function createControlClient({ path }: { path: string }): RunningService {
  // Several connections: progress is asked for while the work goes on.
  const pool = new Pool('http://localhost', {
    socketPath: path,
    connections: 4,
    pipelining: 1,
    maxResponseSize: largestAnswerBytes,
  })

  async function call<T>(asked: Call<T>): Promise<T> {
    const { method, path: url, read, query, body, headers, isWork, alsoAnswers = [] } = asked
    const timeout = isWork === true ? 0 : questionTimeoutMs
    let status: number
    let answer: unknown
    try {
      const response = await pool.request({
        method,
        path: url,
        ...(query && { query: definedEntries(query) }),
        ...(body && { body: JSON.stringify(body) }),
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        headersTimeout: timeout,
        bodyTimeout: timeout,
      })
      status = response.statusCode
      answer = status === noContent ? await response.body.dump() : await response.body.json()
    } catch (error) {
      throw unavailable(path, error)
    }
    if (!good.includes(status) && !alsoAnswers.includes(status)) throw errorFromBody(answer)
    try {
      return read(answer, 'the answer')
    } catch (error) {
      throw strange(path, url, error)
    }
  }
  const ask = askByTable(serviceEndpoints, call)

  const operations: AdminOperations = {
    fleet: createFleetClient(call),
    boots: createBootClient(call),
    events: silentFeed,
    readiness: () =>
      call({
        method: 'GET',
        path: '/readyz',
        read: schemaReader(Readiness) as Reader<Readiness>,
        alsoAnswers: [503],
      }),
    streams: async () => (await ask('listStreams')).streams,
    bootimages: async (query) => (await ask('listBootimages', { query })).bootimages,
    loaders: () => ask('listLoaders'),
    explain: (query) => ask('explain', { query }),
    render: async (body) => (await ask('render', { body })).script,
    sync: (body) => ask('sync', { body }),
    verify: () => ask('verify', { body: {} }),
    gc: (body) => ask('gc', { body }),
    importDocument: (body) => ask('importDocument', { body }),
    reload: () => ask('reload', { body: {} }),
    webhooks: async () => (await ask('listWebhooks')).webhooks,
    testWebhook: (name) => ask('testWebhook', { at: [name] }),
  }
  const closed = new AbortController()
  return {
    operations,
    follow: createFollow({
      path,
      closed: closed.signal,
      now: Date.now,
      sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
    }),
    async close() {
      closed.abort()
      await pool.destroy()
    },
  }
}

function definedEntries(query: object): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

function strange(path: string, url: string, cause: unknown): ServiceError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    `what answers at ${path} is no pilotlight that this command understands: ${url}: ${why}`,
    { path, hint: 'command and service must be of the same version; restart the service after an update' },
    cause,
  )
}

function unavailable(path: string, cause: unknown): ServiceError {
  if (cause instanceof errors.ResponseExceededMaxSizeError) {
    return strange(path, 'its answer', new Error(`more than ${largestAnswerBytes} bytes`))
  }
  const isSlow = cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError
  const what = isSlow ? 'does not answer in time' : 'has stopped answering'
  return new ServiceError('SERVICE_UNAVAILABLE', `the service at ${path} ${what}`, { path }, cause)
}
