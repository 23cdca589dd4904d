import type { AdminApp } from '../create-admin-app.ts'

/** Answers here are data for programs: never cached, never framed, never read as another type. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Before anything else, so that errors carry them too. */
export function addSecurityHeaders(app: AdminApp): void {
  app.addHook('onRequest', async (_, reply) => {
    reply.headers(securityHeaders)
  })
}
