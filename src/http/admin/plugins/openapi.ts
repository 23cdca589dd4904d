import swagger from '@fastify/swagger'
import type { AdminApp } from '../create-admin-app.ts'
import { docsPage, docsStyle } from '../docs-page.ts'
import { readOpenApi } from '../read-openapi.ts'
import { securityHeaders } from './security-headers.ts'

/** The page is text and one style sheet of our own: no script runs there, not even one of ours. */
const docsPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Collects what routes say of themselves. Before any route that is to be in the document. */
export function collectOpenApi(app: AdminApp, { version }: { readonly version: string }): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Pilotlight',
        version,
        description:
          'Who boots what, why, and since when. Times are ISO 8601 in UTC. Unknown names are refused. Errors have a code for programs and a message for people.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
  })
}

/**
 * The document and a page made from it. Both are open: they are the same for every service of this version and say
 * nothing of this one, and a browser has no token when it comes to read how to use one.
 */
export async function openApiRoutes(app: AdminApp): Promise<void> {
  const open = { config: { role: 'nobody' as const } }
  let page: string | undefined
  app.get('/openapi.json', { ...open, schema: { hide: true } }, async () => app.swagger())
  app.get('/docs', { ...open, schema: { hide: true } }, async (_, reply) => {
    page ??= docsPage(readOpenApi(app.swagger()))
    return reply
      .headers({ ...securityHeaders, 'content-security-policy': docsPolicy })
      .type('text/html; charset=utf-8')
      .send(page)
  })
  app.get('/docs.css', { ...open, schema: { hide: true } }, async (_, reply) =>
    reply.type('text/css; charset=utf-8').send(docsStyle),
  )
}
