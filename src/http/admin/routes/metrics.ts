import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

const schema = {
  operationId: 'metrics',
  tags: ['health'],
  security: [],
  summary: 'The figures in the text format of Prometheus.',
  description: 'Open.',
  response: {
    200: { description: 'The figures.', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
}

/** `GET /metrics`: the figures in the text format of Prometheus. */
export async function metricsRoutes(app: AdminApp, { metrics }: RouteOptions): Promise<void> {
  app.get('/metrics', { schema }, async (_, reply) => {
    const text = await metrics.text()
    return reply.type(metrics.contentType).send(text)
  })
}
