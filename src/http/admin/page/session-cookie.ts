import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionLifeMs } from './sessions.ts'

/**
 * The name of the session's cookie. Browsers keep one jar for all ports of a name, so it has the port in it: two
 * services behind two tunnels of one laptop do not end each other's sessions. Under TLS a browser takes it from this
 * very name alone (`__Host-`, RFC 6265bis §4.1.3.2).
 */
export function cookieName({ host, protocol }: { readonly host: string; readonly protocol: string }): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  const name = port === undefined ? 'pilotlight' : `pilotlight-${port}`
  return protocol === 'https' ? `__Host-${name}` : name
}

export function sessionCookieOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(request)]
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, value: string): void {
  reply.setCookie(cookieName(request), value, { ...attributes(request), maxAge: sessionLifeMs / 1000 })
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieName(request), attributes(request))
}

function attributes({ protocol }: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: protocol === 'https' } as const
}
