import type { Metrics } from '../../../telemetry/create-metrics.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { EventStreams } from '../events/event-streams.ts'
import { addressOf } from '../plugins/address-of.ts'
import { liveText } from './live-text.ts'
import { lineOf } from './read-form.ts'
import { sessionCookieOf } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

export interface LiveOptions {
  readonly streams: EventStreams
  readonly sessions: Sessions
  readonly metrics: Pick<Metrics, 'onRequest'>
}

/** `/live`: what moves, for the script of the page; ends with its session. */
export function addLiveRoute(app: AdminApp, { streams, sessions, metrics }: LiveOptions): void {
  const config = { isEndless: true as const }
  app.get('/live', { schema: { hide: true }, config, exposeHeadRoute: false }, async (request, reply) => {
    const cookie = sessionCookieOf(request) ?? ''
    const lastEventId = [request.headers['last-event-id']].flat()[0]
    const after = lineOf({ lastEventId }, 'lastEventId', 64) ?? lineOf(request.query, 'after', 64)
    streams.open({
      response: reply.raw,
      headers: reply.getHeaders(),
      ...(after !== undefined && { after }),
      address: addressOf(request),
      wants: () => true,
      textOf: liveText,
      mayRead: () => sessions.find(cookie) !== undefined,
    })
    reply.hijack()
    metrics.onRequest('admin', request.routeOptions.url, 'GET', 200, reply.elapsedTime / 1000)
  })
}
