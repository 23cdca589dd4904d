import { Client } from 'undici'
import { ServiceError } from '../core/errors.ts'
import { type ServiceEvent, type ServiceEventType, serviceEventTypes } from '../core/service-event.ts'
import { errorFromBody } from './error-from-body.ts'
import { createBlockReader, type EventBlock } from './event-blocks.ts'
import type { Follow, Followed } from './follow.ts'

export interface FollowServiceOptions {
  /** Of the control socket. */
  readonly path: string
  /** Ends everything that is followed. */
  readonly closed: AbortSignal
  readonly now: () => number
  /** Resolves after the time, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** The service says something each 15 s at least. */
const silentMs = 45_000
const firstPauseMs = 200
const longestPauseMs = 5_000

/**
 * Follows a running service over its control socket. When it does not answer any more it is asked again, after the
 * last event that came; what its restart made unknown is told as a gap.
 * @throws ServiceError (while it is read) of the service for what it refuses; SERVICE_UNAVAILABLE for what answers and
 *   is no event stream
 */
export function createFollow({ path, closed, now, sleep }: FollowServiceOptions): Follow {
  return async function* follow({ types, after, signal: mine }) {
    const signal = AbortSignal.any([mine, closed])
    let place = after
    let isLost = false
    let isFirst = after === undefined
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      let why: string
      try {
        for await (const block of connect(path, types, place, signal)) {
          pauseMs = firstPauseMs
          if (isLost) yield { kind: 'resumed' }
          isLost = false
          // Only now nothing can happen unseen between a look at everything and the first event.
          if (isFirst) yield { kind: 'gap' }
          isFirst = false
          if (block.id !== undefined && block.id !== '') place = block.id
          const followed = readFollowed(block, place, now())
          if (followed !== undefined) yield followed
        }
        why = `the service at ${path} ended the connection`
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof ServiceError && !mayPass(error)) throw error
        why = error instanceof ServiceError ? error.message : `the service at ${path} does not answer`
      }
      if (signal.aborted) return
      if (!isLost) yield { kind: 'lost', why }
      isLost = true
      await sleep(pauseMs, signal)
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
  }
}

/** Of a service that begins, ends or has too much to do. */
function mayPass({ code }: ServiceError): boolean {
  return code === 'SERVICE_UNAVAILABLE' || code === 'RATE_LIMITED' || code === 'STATE_UNAVAILABLE'
}

/** The blocks of one connection, until it ends. */
async function* connect(
  path: string,
  types: readonly ServiceEventType[],
  place: string | undefined,
  signal: AbortSignal,
): AsyncIterable<EventBlock> {
  const client = new Client('http://localhost', {
    socketPath: path,
    headersTimeout: silentMs,
    bodyTimeout: silentMs,
  })
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: '/api/v1/events',
      query: { types: types.join(',') },
      headers: place === undefined ? {} : { 'last-event-id': place },
      signal,
    })
    if (statusCode !== 200) throw errorFromBody(await body.json())
    if (!String(headers['content-type']).startsWith('text/event-stream')) {
      throw new ServiceError(
        'INTERNAL',
        `what answers at ${path} is no pilotlight that this command understands`,
        {
          path,
          hint: 'command and service must be of the same version; restart the service after an update',
        },
      )
    }
    const read = createBlockReader()
    body.setEncoding('utf8')
    for await (const piece of body) yield* read(String(piece))
  } finally {
    await client.destroy()
  }
}

function readFollowed({ event, data }: EventBlock, id = '', at: number): Followed | undefined {
  if (event === 'gap') return { kind: 'gap' }
  const type = serviceEventTypes.find((known) => known === event)
  if (type === undefined || data === undefined) return undefined
  const told: ServiceEvent = { id, type, at, data }
  return { kind: 'event', event: told }
}
