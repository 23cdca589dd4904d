import type { FastifyReply, FastifyRequest } from 'fastify'
import { isServiceError } from '../../../core/errors.ts'
import { toApiFailure } from '../api-error.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { CredentialCheck } from '../credential-check.ts'
import { addressOf } from '../plugins/address-of.ts'
import { ownPath } from './own-path.ts'
import type { PageFrame } from './page-frame.ts'
import { lineOf, wordOf } from './read-form.ts'
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

export interface LoginOptions {
  readonly frame: PageFrame
  readonly sessions: Sessions
  readonly check: CredentialCheck
}

/** `/login` takes an API token and gives a session for it; `/logout` ends the session. */
export function addLoginRoutes(app: AdminApp, { frame, sessions, check }: LoginOptions): void {
  const open = { config: { isOpenPage: true as const }, schema: { hide: true } }

  function showLogin(
    request: FastifyRequest,
    reply: FastifyReply,
    next: string,
    { failure, ended }: { readonly failure?: unknown; readonly ended?: string | undefined } = {},
  ): FastifyReply {
    const { status, headers, body } = failure === undefined ? { status: 200 } : toApiFailure(failure)
    return frame.show(
      request,
      reply.headers(headers ?? {}),
      'login',
      { title: 'Log in', status },
      {
        next,
        ended,
        problem: body === undefined ? undefined : { message: sentence(body.message), hint: body.hint },
      },
    )
  }

  app.get('/login', open, async (request, reply) => {
    const { next } = request.query as { readonly next?: unknown }
    if (request.visitor !== undefined) return reply.redirect(ownPath(next), 303)
    const why = wordOf(request.query, 'ended', ['form', 'session'])
    return showLogin(request, reply, ownPath(next), { ended: why && endings[why] })
  })

  app.post('/login', open, async (request, reply) => {
    const next = ownPath(lineOf(request.body, 'next', 2_000))
    const credential = lineOf(request.body, 'token', 520) ?? ''
    try {
      check.prove(addressOf(request), credential)
    } catch (failure) {
      if (!isServiceError(failure)) throw failure
      return showLogin(request, reply, next, { failure })
    }
    const before = sessionCookieOf(request)
    if (before !== undefined) sessions.close(before)
    setSessionCookie(request, reply, sessions.open(credential))
    return reply.redirect(next, 303)
  })

  app.post('/logout', { schema: { hide: true } }, async (request, reply) => {
    const cookie = sessionCookieOf(request)
    if (cookie !== undefined) sessions.close(cookie)
    clearSessionCookie(request, reply)
    return reply.redirect('/login', 303)
  })
}

const endings = {
  session: 'Your session has ended: after twelve hours, with its token, or with a restart of the service.',
  form: 'Your session had ended when the form came, so nothing was changed. Log in, and send it once more.',
} as const

function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
}
