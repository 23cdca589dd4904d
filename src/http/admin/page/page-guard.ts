import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/errors.ts'
import type { Metrics } from '../../../telemetry/create-metrics.ts'
import type { AdminApp } from '../create-admin-app.ts'
import { isOwnForm } from './form-origin.ts'
import { pageHeaders, partHeader } from './page-frame.ts'
import { pathWith } from './page-links.ts'
import { sessionCookieOf } from './session-cookie.ts'
import { isSameSecret, type Sessions, type Visitor } from './sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who looks at the page; `undefined` for whoever is not logged in. */
    visitor: Visitor | undefined
  }
  interface FastifyContextConfig {
    /** A part of the page that is there without a login. */
    isOpenPage?: true
  }
}

/**
 * Lets in who has a session, and nobody else; sends others to the login. A form counts when it comes from a page of
 * this listener and carries the token of its session, and changes something for role `write` alone.
 */
export function guardPage(
  app: AdminApp,
  { sessions, metrics }: { readonly sessions: Sessions; readonly metrics: Pick<Metrics, 'onRefusedLogin'> },
): void {
  app.decorateRequest('visitor', undefined)

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(pageHeaders)
    const cookie = sessionCookieOf(request)
    request.visitor = cookie === undefined ? undefined : sessions.find(cookie)
    if (request.visitor !== undefined || request.routeOptions.config.isOpenPage === true) return
    return sendToLogin(request, reply)
  })

  app.addHook('preValidation', async (request) => {
    if (request.method !== 'POST') return
    const { origin, 'sec-fetch-site': fetchSite } = request.headers
    if (!isOwnForm({ origin, fetchSite: [fetchSite].flat()[0] }, request.host)) throw foreignForm()
    if (request.routeOptions.config.isOpenPage === true) return
    const { form } = (request.body ?? {}) as { readonly form?: unknown }
    if (request.visitor === undefined || !isSameSecret(form, request.visitor.formToken)) throw foreignForm()
    if (request.routeOptions.config.role === 'write' && request.visitor.role !== 'write') {
      metrics.onRefusedLogin('role')
      throw new ServiceError('FORBIDDEN', 'this needs a token of role write, and yours may only read', {
        hint: 'log in with one of: pilotlight token create NAME --role write',
      })
    }
  })
}

function sendToLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A script cannot do anything with a login; it loads the page again, which leads there.
  if (request.headers[partHeader] !== undefined || request.routeOptions.url === '/live') {
    return reply.code(401).type('text/plain; charset=utf-8').send('log in again\n')
  }
  const { method, url, routeOptions } = request
  // The address of a form is that of its page, so whoever sent one comes back to it.
  const next = url === '/' || routeOptions.url === '/logout' ? undefined : url.slice(0, 1_000)
  const ended = sessionCookieOf(request) === undefined ? undefined : method === 'POST' ? 'form' : 'session'
  return reply.redirect(pathWith('/login', { next, ended }), 303)
}

function foreignForm(): ServiceError {
  return new ServiceError('FORBIDDEN', 'this form does not come from a page of this session', {
    hint: 'go back, load the page again, and send it once more; nothing was changed',
  })
}
