import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminApp } from '../create-admin-app.ts'

export interface ListedRoute {
  readonly method: string
  readonly url: string
}

const controlHint = 'this is done on the machine of the service, with pilotlight'

/**
 * Unknown URLs are answered with where to look; a known URL with a wrong verb says which verbs it has.
 * @param elsewhere what there is on the control socket alone
 * @param showMissing answers a person who is at an unknown URL; `false`: a program asks
 */
export function listRoutes(
  app: AdminApp,
  elsewhere: readonly ListedRoute[] = [],
  showMissing: (request: FastifyRequest, reply: FastifyReply) => boolean = () => false,
): void {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = []
  const isElsewhere = (method: string, path: string) =>
    elsewhere.some((route) => route.method === method && patternOf(route.url).test(path))
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, pattern: patternOf(url) })
  })

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    if (methods.length > 0) {
      return reply
        .code(405)
        .header('allow', methods.join(', '))
        .send({
          code: 'USAGE',
          message: `there is no ${request.method} here`,
          hint: isElsewhere(request.method, path) ? controlHint : `allowed: ${methods.join(', ')}`,
        })
    }
    if (showMissing(request, reply)) return reply
    return reply.code(404).send({
      code: 'NOT_FOUND',
      message: 'there is no such URL',
      hint: isElsewhere(request.method, path)
        ? controlHint
        : 'there are /livez, /readyz, /metrics and what /api/v1/docs tells',
    })
  })
}

/** `/hosts/:id` as the router understands it; our own URLs hold nothing else that means something in a pattern. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.')))
  return new RegExp(`^${parts.join('/')}$`)
}
