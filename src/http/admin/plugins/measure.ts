import type { ListenerName, Metrics } from '../../../telemetry/create-metrics.ts'
import type { AdminApp } from '../create-admin-app.ts'

interface MeasureOptions {
  readonly metrics: Pick<Metrics, 'onRequest' | 'declareRoute'>
  readonly listener: ListenerName
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It ends when its reader goes, which says nothing of how fast we are: the route says itself when it began. */
    isEndless?: true
  }
}

/** One observation a request, under the route's pattern. */
export function measureRequests(app: AdminApp, { metrics, listener }: MeasureOptions): void {
  app.addHook('onRoute', ({ url, method }) => {
    for (const name of [method].flat()) metrics.declareRoute(url, name)
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? undefined : request.routeOptions.url
    if (request.routeOptions.config.isEndless === true && reply.statusCode === 200) return
    metrics.onRequest(listener, route, request.method, reply.statusCode, reply.elapsedTime / 1000)
  })
}
