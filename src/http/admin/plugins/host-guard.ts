import { ServiceError } from '../../../core/errors.ts'
import { isAllowedHost } from '../access.ts'
import type { AdminApp } from '../create-admin-app.ts'

/**
 * Refuses requests whose Host header names somebody else (DNS rebinding). What a trusted proxy forwards has the name
 * under which the world knows the proxy.
 */
export function guardHost(app: AdminApp, { listenHost }: { listenHost: string }): void {
  app.addHook('onRequest', async (request) => {
    const isForwarded = (request.ips?.length ?? 0) > 1
    if (isForwarded || isAllowedHost(request.raw.headers.host, listenHost)) return
    throw new ServiceError('FORBIDDEN', 'the Host header does not name this listener', {
      field: 'host',
      hint: `use http://${listenHost} or http://localhost with the listener's port`,
    })
  })
}
