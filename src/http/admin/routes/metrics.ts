import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

/** `GET /metrics`: the figures in the text format of Prometheus. */
export async function metricsRoutes(app: AdminApp, { metrics }: RouteOptions): Promise<void> {
  app.get('/metrics', async (_, reply) => {
    const text = await metrics.text()
    return reply.type(metrics.contentType).send(text)
  })
}
