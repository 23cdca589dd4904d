import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../telemetry/create-metrics.ts'
import { type AdminAccess, isLoopback } from './access.ts'
import type { AdminOperations } from './operations.ts'
import { answerErrors, frameworkErrors, onClientError } from './plugins/errors.ts'
import { guardHost } from './plugins/host-guard.ts'
import { measureRequests } from './plugins/measure.ts'
import { listRoutes } from './plugins/not-found.ts'
import { addSecurityHeaders } from './plugins/security-headers.ts'
import { bootimageRoutes } from './routes/bootimages.ts'
import { controlRoutes } from './routes/control.ts'
import { explainRoutes } from './routes/explain.ts'
import { healthRoutes } from './routes/health.ts'
import { loaderRoutes } from './routes/loaders.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { refusedApiRoutes } from './routes/refused-api.ts'
import { streamRoutes } from './routes/streams.ts'
import type { TypeboxProvider } from './typebox-provider.ts'

export interface AdminAppOptions {
  readonly operations: AdminOperations
  readonly metrics: Metrics
  readonly log: Log
  readonly version: string
  readonly access: AdminAccess
}

export type AdminApp = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeboxProvider
>

/** What a route plugin needs. */
export type RouteOptions = Pick<AdminAppOptions, 'operations' | 'metrics' | 'log' | 'version'>

/**
 * The admin app, not listening yet. The same app answers on the admin listener and on the control socket; who can
 * reach it decides which routes exist:
 *
 * | route                                     | control socket | loopback | other addresses |
 * | ----------------------------------------- | -------------- | -------- | --------------- |
 * | `/livez`, `/readyz`, `/metrics`           | yes            | yes      | yes             |
 * | `GET /api/v1/…` (ask)                     | yes            | yes      | 403             |
 * | `POST /api/v1/…` (do)                     | yes            | no       | 403             |
 *
 * No request changes anything over TCP, because nobody can prove there who they are.
 */
export function createAdminApp({ operations, metrics, log, version, access }: AdminAppOptions): AdminApp {
  const app = fastify({
    // Requests are counted in metrics; faults are logged by the error handler (field case 165).
    logger: false,
    bodyLimit: 64 * 1024,
    // Time to receive a request, not to answer it: `sync` may take as long as it likes.
    requestTimeout: 30_000,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 256, ignoreDuplicateSlashes: true },
    http: { maxHeaderSize: 16 * 1024 },
    // Nothing is guessed, dropped or filled in: what is not understood is refused (field case 126). The schemas are our
    // own, so a start does not spend a tenth of its time on checking them.
    ajv: {
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: false,
        validateSchema: false,
      },
    },
    frameworkErrors,
    clientErrorHandler: onClientError,
  }).withTypeProvider<TypeboxProvider>()

  const isControl = access === 'control'
  addSecurityHeaders(app)
  measureRequests(app, { metrics, listener: isControl ? 'control' : 'admin' })
  answerErrors(app, { log })
  listRoutes(app, { isControl })
  if (!isControl && isLoopback(access.host)) guardHost(app, { listenHost: access.host })

  const options: RouteOptions = { operations, metrics, log, version }
  app.register(healthRoutes, options)
  app.register(metricsRoutes, options)
  if (!isControl && !isLoopback(access.host)) {
    app.register(refusedApiRoutes, options)
    return app
  }
  app.register(streamRoutes, { ...options, prefix: '/api/v1' })
  app.register(bootimageRoutes, { ...options, prefix: '/api/v1' })
  app.register(loaderRoutes, { ...options, prefix: '/api/v1' })
  app.register(explainRoutes, { ...options, prefix: '/api/v1' })
  if (isControl) app.register(controlRoutes, { ...options, prefix: '/api/v1' })
  return app
}
