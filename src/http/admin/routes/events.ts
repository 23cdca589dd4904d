import type { FastifySchema } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Metrics } from '../../../telemetry/create-metrics.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { EventStreams } from '../events/event-streams.ts'
import { readFollowQuery } from '../events/read-follow-query.ts'
import { addressOf } from '../plugins/address-of.ts'
import { ApiError } from '../schemas/api-error.ts'
import { word } from '../schemas/text.ts'

const FollowQuery = Type.Object(
  {
    after: Type.Optional(
      word(
        'Id of an event: those after it first. Default: what is to come. A header Last-Event-ID counts before it.',
        64,
      ),
    ),
    types: Type.Optional(word('boot, stream, change: those alone, separated by commas.', 64)),
    host: Type.Optional(word('What tells of this host alone.', 63)),
    mac: Type.Optional(word('What tells of this card alone.', 32)),
  },
  { additionalProperties: false },
)

const text = 'text/event-stream'
const schema: FastifySchema = {
  operationId: 'followEvents',
  summary: 'What changes, while it does, as server-sent events.',
  tags: ['events'],
  description:
    'Needs a token of role read. An answer without end: boot (as in GET /boots), stream (as in GET /streams) and change (as in GET /audit), each with an id to come back to. gap: events before this are lost. At most 256 streams, 32 of one address.',
  querystring: FollowQuery,
  response: {
    200: { description: 'The events.', content: { [text]: { schema: { type: 'string' } } } },
    '4xx': ApiError,
    '5xx': ApiError,
  },
} as FastifySchema

interface EventRouteOptions {
  readonly streams: EventStreams
  /** On the control socket nobody has an address. */
  readonly isControl: boolean
  readonly metrics: Pick<Metrics, 'onRequest'>
}

/** `GET /events`: the feed, for programs. */
export async function eventRoutes(
  app: AdminApp,
  { streams, isControl, metrics }: EventRouteOptions,
): Promise<void> {
  const config = { isEndless: true as const }
  app.get('/events', { schema, config, exposeHeadRoute: false }, async (request, reply) => {
    const query = request.query as Static<typeof FollowQuery>
    const wants = readFollowQuery(query)
    const lastEventId = [request.headers['last-event-id']].flat()[0]
    const after = lastEventId === undefined || lastEventId === '' ? query.after : lastEventId
    streams.open({
      response: reply.raw,
      headers: reply.getHeaders(),
      ...(after !== undefined && { after }),
      ...(!isControl && { address: addressOf(request) }),
      wants,
      mayRead: request.stillCounts,
    })
    reply.hijack()
    const listener = isControl ? 'control' : 'admin'
    metrics.onRequest(listener, request.routeOptions.url, 'GET', 200, reply.elapsedTime / 1000)
  })
}
