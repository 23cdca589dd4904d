import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:tls'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Clock, Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../telemetry/create-metrics.ts'
import { type AdminAccess, type AdminTls, isLoopback } from './access.ts'
import { bootEndpoints } from './boot-endpoints.ts'
import { createCredentialCheck } from './credential-check.ts'
import type { Endpoint } from './endpoint.ts'
import { createEventStreams, type EventStreams } from './events/event-streams.ts'
import { fleetEndpoints } from './fleet-endpoints.ts'
import { bootHandlers } from './handlers/boots.ts'
import { fleetHandlers } from './handlers/fleet.ts'
import { serviceHandlers } from './handlers/service.ts'
import type { AdminOperations } from './operations.ts'
import { createPage } from './page/create-page.ts'
import { allowEmptyBody } from './plugins/allow-empty-body.ts'
import { authenticateRequests } from './plugins/authenticate.ts'
import { carryTraces, type WithinTrace } from './plugins/carry-trace.ts'
import { answerErrors, createFailureLog, frameworkErrors, onClientError } from './plugins/errors.ts'
import { guardHost } from './plugins/host-guard.ts'
import { measureRequests } from './plugins/measure.ts'
import { type ListedRoute, listRoutes } from './plugins/not-found.ts'
import { collectOpenApi, openApiRoutes } from './plugins/openapi.ts'
import { readQueries } from './plugins/read-query.ts'
import { addSecurityHeaders } from './plugins/security-headers.ts'
import { validateLazily } from './plugins/validate-lazily.ts'
import { addEndpoints } from './routes/endpoints.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import type { TypeboxProvider } from './typebox-provider.ts'

export interface AdminAppOptions {
  readonly operations: AdminOperations
  readonly metrics: Metrics
  readonly log: Log
  readonly version: string
  readonly clock: Clock
  readonly timers: Timers
  readonly access: AdminAccess
  /** Those who follow, where several apps count them together; default: an account of its own. */
  readonly streams?: EventStreams
  /** Does what a request asks for as a part of the trace that it came with; default: traces are not carried. */
  readonly withinTrace?: WithinTrace
  /** Where the files of the page are (`templates/dashboard`); absent: there is no page. */
  readonly pageDirectory?: string
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
 * The admin app, not listening yet. The same app answers on the admin listener and on the control socket:
 *
 * | route                                       | control socket    | admin listener         |
 * | ------------------------------------------- | ----------------- | ---------------------- |
 * | `/livez`, `/readyz`, `/metrics`             | open              | open                   |
 * | `/` and the views of the page               | not there         | session of a token     |
 * | `/api/v1/openapi.json`, `/api/v1/docs`      | open              | open                   |
 * | `GET /api/v1/…`                             | mode of its file  | token of role `read`   |
 * | `PUT`, `POST`, `DELETE /api/v1/…`           | mode of its file  | token of role `write`  |
 * | `/api/v1/backup`, `/api/v1/restore`         | mode of its file  | not there              |
 * | `POST /api/v1/tokens`                       | mode of its file  | not there              |
 */
export function createAdminApp(options: AdminAppOptions): AdminApp {
  const { operations, metrics, log, version, clock, timers, access, pageDirectory } = options
  const isControl = access === 'control'
  const tls = isControl ? undefined : access.tls
  const app: AdminApp = fastify({
    // Requests are counted in metrics; faults are logged by the error handler (field case 165).
    logger: false,
    bodyLimit: 64 * 1024,
    // Time to receive a request, not to answer it: `sync` may take as long as it likes.
    requestTimeout: 30_000,
    forceCloseConnections: true,
    trustProxy: isControl ? false : [...(access.trustedProxies ?? [])],
    routerOptions: { maxParamLength: 256, ignoreDuplicateSlashes: true },
    http: { maxHeaderSize: 16 * 1024 },
    // The framework tells apart servers with and without TLS by type; nothing here cares which it is.
    ...(tls !== undefined && ({ https: tlsOptions(tls) } as object)),
    frameworkErrors,
    clientErrorHandler: onClientError,
  }).withTypeProvider<TypeboxProvider>()

  validateLazily(app)
  // What we answer needs no other check, and a field that its schema forgot is no reason to fail.
  app.setSerializerCompiler(() => JSON.stringify)
  app.removeContentTypeParser('text/plain')
  allowEmptyBody(app)
  addSecurityHeaders(app)
  measureRequests(app, { metrics, listener: isControl ? 'control' : 'admin' })
  if (options.withinTrace !== undefined) carryTraces(app, { within: options.withinTrace })
  const tellFailure = createFailureLog({ log, clock })
  answerErrors(app, { tellFailure })
  const check = createCredentialCheck({ fleet: operations.fleet, metrics, clock, log })
  const streams = options.streams ?? createEventStreams({ feed: operations.events, clock, timers })
  const page =
    pageDirectory &&
    createPage({ directory: pageDirectory, operations, check, streams, metrics, version, clock, tellFailure })
  listRoutes(app, isControl ? [] : controlOnlyRoutes(), page ? page.showMissing : undefined)
  if (!isControl && isLoopback(access.host)) guardHost(app, { listenHost: access.host })

  app.addHook('preClose', async () => streams.close())
  const shared: RouteOptions = { operations, metrics, log, version }
  collectOpenApi(app, { version })
  app.register(healthRoutes, shared)
  app.register(metricsRoutes, shared)
  if (page) app.register(page.routes)
  app.register(
    async (api: AdminApp) => {
      authenticateRequests(api, { access, fleet: operations.fleet, metrics, check })
      readQueries(api)
      api.register(openApiRoutes)
      addEndpoints(api, serviceEndpoints, serviceHandlers(operations), { isControl })
      addEndpoints(api, fleetEndpoints, fleetHandlers(operations.fleet), { isControl })
      addEndpoints(api, bootEndpoints, bootHandlers(operations.boots), { isControl })
      api.register(eventRoutes, { streams, isControl, metrics })
    },
    { prefix: '/api/v1' },
  )
  return app
}

function controlOnlyRoutes(): readonly ListedRoute[] {
  const endpoints: readonly Endpoint[] = [
    ...Object.values(serviceEndpoints),
    ...Object.values(fleetEndpoints),
    ...Object.values(bootEndpoints),
  ]
  return endpoints
    .filter(({ isControlOnly }) => isControlOnly === true)
    .map(({ method, path }) => ({ method, url: `/api/v1${path}` }))
}

/**
 * Takes over a renewed certificate: connections that are open go on, new ones get it.
 * @throws Error of OpenSSL when they do not fit each other; then the old ones stay
 */
export function renewCertificate(app: AdminApp, tls: AdminTls): void {
  const server: unknown = app.server
  ;(server as TlsServer).setSecureContext(tlsOptions(tls))
}

function tlsOptions({ certificate, key, clientAuthority }: AdminTls) {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2' as const,
    ...(clientAuthority !== undefined && {
      ca: clientAuthority,
      requestCert: true,
      rejectUnauthorized: true,
    }),
  }
}
