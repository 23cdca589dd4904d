import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/errors.ts'
import type { Actor, ApiRole } from '../../../core/fleet.ts'
import type { Metrics } from '../../../telemetry/create-metrics.ts'
import type { AdminAccess } from '../access.ts'
import type { AdminApp } from '../create-admin-app.ts'
import { type CredentialCheck, challenge, tokenHint } from '../credential-check.ts'
import { controlUserHeader } from '../fleet-endpoints.ts'
import type { FleetOperations } from '../fleet-operations.ts'
import { addressOf } from './address-of.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, proven; `undefined` outside of the API. */
    actor: Actor | undefined
    /** Whether his credential counts by now, for answers that last. */
    stillCounts: () => boolean
  }
  interface FastifyContextConfig {
    /** What the route asks for; default: `read` for GET and HEAD, else `write`. */
    role?: ApiRole | 'nobody'
  }
}

interface AuthenticateOptions {
  readonly access: AdminAccess
  readonly fleet: Pick<FleetOperations, 'authenticate'>
  readonly metrics: Pick<Metrics, 'onRefusedLogin'>
  readonly check: CredentialCheck
}

/**
 * Asks every route of the API for a credential, before its body is read (RFC 6750 §2.1: the Authorization header and
 * nothing else). On the control socket the mode of its file has proven everything; who it is stands in a header.
 */
export function authenticateRequests(
  app: AdminApp,
  { access, fleet, metrics, check }: AuthenticateOptions,
): void {
  interface Proven {
    readonly actor: Actor
    readonly role: ApiRole
    readonly stillCounts: () => boolean
  }

  function proven(request: FastifyRequest): Proven {
    const credential = bearerOf(request.headers.authorization)
    if (credential === undefined) {
      metrics.onRefusedLogin('missing')
      throw new ServiceError('UNAUTHENTICATED', 'the API needs a token', {
        challenge,
        hint: `send the header "Authorization: Bearer <token>"; ${tokenHint}`,
      })
    }
    const found = check.prove(addressOf(request), credential)
    return { ...found, stillCounts: () => fleet.authenticate(credential) !== undefined }
  }

  app.decorateRequest('actor', undefined)
  // The mode of the control socket's file is looked at when a connection is opened, and not again.
  app.decorateRequest('stillCounts', () => access === 'control')
  app.addHook('onRequest', async (request) => {
    const { config, method } = request.routeOptions
    const needed = config.role ?? ([method].flat().every(isQuestion) ? 'read' : 'write')
    if (needed === 'nobody') return
    if (access === 'control') {
      request.actor = { by: controlUser(request.headers[controlUserHeader]), via: 'control' }
      return
    }
    const { actor, role, stillCounts } = proven(request)
    if (needed === 'write' && role !== 'write') {
      metrics.onRefusedLogin('role')
      throw new ServiceError('FORBIDDEN', `this needs a token of role write, and yours may only read`, {
        challenge: `${challenge}, error="insufficient_scope"`,
      })
    }
    request.actor = actor
    request.stillCounts = stillCounts
  })
}

function isQuestion(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** RFC 6750 §2.1; the scheme in any letter case (RFC 9110 §11.1). */
function bearerOf(header: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]{1,512}=*) *$/i.exec(header ?? '')?.[1]
}

function controlUser(header: string | string[] | undefined): string {
  try {
    const name = decodeURIComponent([header ?? ''].flat()[0] ?? '')
    if (/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u.test(name)) return name
  } catch {
    // No name: a tool that speaks with the socket itself.
  }
  return 'control socket'
}
