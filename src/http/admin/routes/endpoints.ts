import type { FastifyRequest, FastifySchema } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { AdminApp } from '../create-admin-app.ts'
import type { Asked, Endpoint, Endpoints, Handlers } from '../endpoint.ts'
import type { ChangeOptions } from '../fleet-operations.ts'
import { entityTag, readIfRevision } from '../revision.ts'
import { ApiError } from '../schemas/api-error.ts'

const Nothing = Type.Object({}, { additionalProperties: false })
const conditions = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'The ETag that was seen: only if it is still that.' }),
  ),
  'if-none-match': Type.Optional(Type.String({ description: '`*`: only if there is none yet.' })),
})

/** A route for each endpoint of a table. Whoever asks has been let in before; what they say is checked here. */
export function addEndpoints<Table extends Endpoints>(
  app: AdminApp,
  table: Table,
  handlers: Handlers<Table>,
  { isControl }: { readonly isControl: boolean },
): void {
  for (const [name, endpoint] of Object.entries(table)) {
    if (endpoint.isControlOnly === true && !isControl) continue
    const handle = handlers[name] as (asked: Asked<unknown>) => Promise<unknown>
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      schema: schemaOf(name, endpoint),
      ...(endpoint.maxBodyBytes !== undefined && { bodyLimit: endpoint.maxBodyBytes }),
      config: { ...(endpoint.needsWrite && { role: 'write' as const }) },
      async handler(request, reply) {
        const answer = await handle({
          params: request.params as undefined,
          query: request.query as undefined,
          body: request.body as undefined,
          change: changeOf(request, endpoint),
        })
        if (endpoint.answer === undefined) return reply.code(204).send()
        const { revision } = answer as { readonly revision?: number }
        if (endpoint.hasRevision && revision !== undefined) reply.header('etag', entityTag(revision))
        return answer
      },
    })
  }
}

function schemaOf(name: string, endpoint: Endpoint): FastifySchema {
  const { params, query, body, answer, summary, path, method, hasRevision, isControlOnly, needsWrite } =
    endpoint
  const [, tag = ''] = path.split('/')
  const role = needsWrite || method !== 'GET' ? 'write' : 'read'
  return {
    operationId: name,
    summary,
    tags: [tag],
    description: isControlOnly ? 'On the control socket alone.' : `Needs a token of role ${role}.`,
    querystring: query ?? Nothing,
    ...(params !== undefined && { params }),
    ...(body !== undefined && { body }),
    ...(hasRevision && method !== 'GET' && { headers: conditions }),
    response: {
      ...(answer === undefined ? { 204: noContent } : { 200: describedAs(answer, 'Done, or the answer.') }),
      '4xx': ApiError,
      '5xx': ApiError,
    },
  } as FastifySchema
}

const noContent = { description: 'Done.', type: 'null' }

function describedAs(answer: TSchema, description: string): object {
  return { description, content: { 'application/json': { schema: answer } } }
}

function changeOf(request: FastifyRequest, { method, hasRevision }: Endpoint): ChangeOptions {
  const { actor, query, headers } = request
  if (actor === undefined) throw new Error('a route of the API without a proof of who asks')
  if (method === 'GET') return { actor }
  const { dryRun } = query as { readonly dryRun?: boolean }
  const ifRevision = readIfRevision(headers, hasRevision === true)
  return {
    actor,
    ...(dryRun !== undefined && { dryRun }),
    ...(ifRevision !== undefined && { ifRevision }),
  }
}
