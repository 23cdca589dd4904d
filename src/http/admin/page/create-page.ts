import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { Metrics } from '../../../telemetry/create-metrics.ts'
import { type ApiFailure, toApiFailure } from '../api-error.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { CredentialCheck } from '../credential-check.ts'
import type { EventStreams } from '../events/event-streams.ts'
import type { AdminOperations } from '../operations.ts'
import type { TellFailure } from '../plugins/errors.ts'
import { addLiveRoute } from './live-route.ts'
import { addLoginRoutes } from './login-routes.ts'
import { addMachineRoutes } from './machine-routes.ts'
import { readPageAssets } from './page-assets.ts'
import { createPageFrame, pageHeaders } from './page-frame.ts'
import { guardPage } from './page-guard.ts'
import { createPageTemplates } from './page-templates.ts'
import { createSessions } from './sessions.ts'
import { addViewRoutes } from './view-routes.ts'

export interface PageOptions {
  /** Templates, style sheet and script: `templates/dashboard`. */
  readonly directory: string
  readonly operations: AdminOperations
  readonly check: CredentialCheck
  readonly streams: EventStreams
  readonly metrics: Pick<Metrics, 'onRefusedLogin' | 'onRequest'>
  readonly version: string
  readonly clock: Clock
  /** Where faults of ours go. */
  readonly tellFailure: TellFailure
}

/** The page of the admin listener, for people. */
export interface Page {
  /** Its routes, at the root of the listener. */
  routes(app: AdminApp): Promise<void>
  /** Answers a browser that asks for a URL that is not there; `false`: it is no browser. */
  showMissing(request: FastifyRequest, reply: FastifyReply): boolean
}

const mostFormBytes = 16 * 1024
const kept = 'public, max-age=31536000, immutable'

/**
 * Reads and parses everything now; a request touches no file.
 * @throws ServiceError TEMPLATE_INVALID
 */
export function createPage(options: PageOptions): Page {
  const { directory, operations, check, streams, metrics, version, clock, tellFailure } = options
  const assets = readPageAssets(directory)
  const templates = createPageTemplates(directory)
  const frame = createPageFrame({ templates, assets, version, clock, feed: operations.events })
  const sessions = createSessions({
    clock,
    randomBytes,
    authenticate: (credential) => operations.fleet.authenticate(credential),
  })

  function showFailure(request: FastifyRequest, reply: FastifyReply, failure: ApiFailure): FastifyReply {
    const { status, body, headers } = failure
    const title = titles[status] ?? (status >= 500 ? 'Something went wrong' : 'That does not work')
    // The browser would ask for a password of its own.
    const { 'www-authenticate': _, ...others } = headers ?? {}
    return frame.show(
      request,
      reply.headers(others),
      'error',
      { title, status },
      {
        message: `${body.message.slice(0, 1).toUpperCase()}${body.message.slice(1)}.`,
        hint: body.hint,
      },
    )
  }

  return {
    async routes(app) {
      app.register(cookie)
      app.register(formbody, { bodyLimit: mostFormBytes })
      app.register(async (page: AdminApp) => {
        guardPage(page, { sessions, metrics })
        page.setErrorHandler((error: unknown, request, reply) => {
          const failure = toApiFailure(error)
          tellFailure(error, request, failure)
          return showFailure(request, reply, failure)
        })
        for (const [url, { type, bytes }] of assets.files) {
          page.get(url, { schema: { hide: true }, config: { isOpenPage: true } }, async (_, reply) =>
            reply.type(type).header('cache-control', kept).send(bytes),
          )
        }
        addLoginRoutes(page, { frame, sessions, check })
        addViewRoutes(page, { operations, frame, clock })
        addMachineRoutes(page, { operations, frame, clock })
        addLiveRoute(page, { streams, sessions, metrics })
      })
    },
    showMissing(request, reply) {
      const isForPeople = request.headers.accept?.includes('text/html') === true
      if (!isForPeople || request.url.startsWith('/api/')) return false
      showFailure(request, reply.headers(pageHeaders), toApiFailure(missing))
      return true
    },
  }
}

const missing = new ServiceError('NOT_FOUND', 'there is no such page')

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many',
  503: 'Not now',
}
