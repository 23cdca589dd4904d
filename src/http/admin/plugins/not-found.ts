import type { AdminApp } from '../create-admin-app.ts'

interface ListedRoute {
  readonly method: string
  readonly url: string
}

/** Unknown URLs are answered with what exists; a known URL with a wrong verb says which verbs it has. */
export function listRoutes(app: AdminApp, { isControl }: { isControl: boolean }): void {
  const routes: ListedRoute[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, url })
  })

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = routes.filter(({ url }) => url === path).map(({ method }) => method)
    if (methods.length > 0) {
      return reply
        .code(405)
        .header('allow', methods.join(', '))
        .send({
          code: 'USAGE',
          message: `${path} has no ${request.method}`,
          hint: `allowed: ${methods.join(', ')}`,
        })
    }
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD'
    return reply.code(404).send({
      code: 'NOT_FOUND',
      message: 'there is no such URL',
      hint:
        isWrite && !isControl
          ? 'nothing can be changed over TCP; use the pilotlight command on this machine'
          : `there are: ${describeRoutes(routes)}`,
    })
  })
}

function describeRoutes(routes: readonly ListedRoute[]): string {
  return routes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url }) => `${method} ${url}`)
    .join(', ')
}
