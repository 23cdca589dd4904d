import { bootRoutes } from '../http/boot/routes.ts'
import type { Metrics } from '../telemetry/create-metrics.ts'

/** Requests of every route are counted from zero on, also before anybody has asked for it. */
export function declareBootRoutes(metrics: Pick<Metrics, 'declareRoute'>): void {
  for (const { pattern, method } of bootRoutes) {
    for (const routeMethod of method === undefined ? ['GET', 'HEAD'] : [method]) {
      metrics.declareRoute(pattern, routeMethod)
    }
  }
}
