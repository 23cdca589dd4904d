import type { AddressInfo } from 'node:net'
import type { ListenAddress } from '../config/listen-address.ts'
import { ServiceError } from '../core/errors.ts'
import type { AdminTls } from '../http/admin/access.ts'
import { type AdminApp, renewCertificate } from '../http/admin/create-admin-app.ts'

export interface AdminListener {
  readonly address: { readonly host: string; readonly port: number }
  /** Takes over renewed files; open connections go on. */
  renewCertificate(tls: AdminTls): void
  close(): Promise<void>
}

/** @throws ServiceError LISTEN_FAILED naming the port and what to do */
export async function listenAdmin({
  app,
  listen,
}: {
  readonly app: AdminApp
  readonly listen: ListenAddress
}): Promise<AdminListener> {
  const host = listen.host ?? '::'
  try {
    await app.listen({ host, port: listen.port })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'something else listens there' : message
    throw new ServiceError(
      'LISTEN_FAILED',
      `the admin listener cannot open ${host} port ${listen.port}: ${why}`,
      { host, port: listen.port, hint: 'choose another with admin.listen (PILOTLIGHT_ADMIN_LISTEN)' },
      cause,
    )
  }
  const bound = app.server.address() as AddressInfo
  return {
    address: { host: bound.address, port: bound.port },
    renewCertificate: (tls) => renewCertificate(app, tls),
    close: () => app.close(),
  }
}
