import type { FastifySchema } from 'fastify'
import { isServiceError } from '../../../core/errors.ts'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'
import { Liveness, Readiness } from '../schemas/service.ts'

const open = { tags: ['health'], security: [], description: 'Open.' }
const livez: FastifySchema = {
  ...open,
  operationId: 'livez',
  summary: 'Whether the process turns.',
  response: { 200: Liveness },
}
const readyz: FastifySchema = {
  ...open,
  operationId: 'readyz',
  summary: 'Whether nodes can be served, part by part, with the reason.',
  response: { 200: Readiness, 503: Readiness },
}

/**
 * `/livez` says that the process turns, and touches nothing. `/readyz` says whether nodes can be served, part by part
 * with the reason: a dead upstream with a good cache is ready (G4). Their parameters are ignored, because probes add
 * their own (`?verbose`).
 */
export async function healthRoutes(app: AdminApp, { operations, log, version }: RouteOptions): Promise<void> {
  app.get('/livez', { schema: livez }, async () => ({ alive: true, version }))

  app.get('/readyz', { schema: readyz }, async (_, reply) => {
    const readiness = await operations.readiness().catch((error: unknown): Readiness => {
      log.error({ err: error }, 'readiness could not be told')
      const reason = isServiceError(error) ? error.message : 'something unexpected went wrong inside'
      return { ready: false, parts: [{ part: 'service', ready: false, reason }] }
    })
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  })
}
