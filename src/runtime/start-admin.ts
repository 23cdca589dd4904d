import type { LoadedConfig } from '../config/load-config.ts'
import { listenControlSocket } from '../http/admin/control-socket.ts'
import { type AdminAppOptions, createAdminApp } from '../http/admin/create-admin-app.ts'
import { createEventStreams } from '../http/admin/events/event-streams.ts'
import { listenAdmin } from './listen-admin.ts'
import { shippedPage } from './shipped-templates.ts'
import { urlOfListener } from './url-of-listener.ts'

/** Where admins ask: over the network and over the control socket. */
export interface AdminListeners {
  readonly url: string
  /** Takes over renewed files of the certificate, where there is one. */
  renewCertificate(next: LoadedConfig): void
  stop(): Promise<void>
}

/** @throws ServiceError LISTEN_FAILED naming the port and what to do */
export async function startAdmin(options: {
  readonly loaded: LoadedConfig
  readonly controlSocket: string
  readonly app: Omit<AdminAppOptions, 'access' | 'pageDirectory' | 'streams'>
}): Promise<AdminListeners> {
  const { listen, tls, trustedProxies } = options.loaded.config.admin
  const { operations, metrics, clock, timers } = options.app
  const streams = createEventStreams({ feed: operations.events, clock, timers })
  metrics.observeEventStreams(() => streams.count)
  const shared = { ...options.app, streams }
  const access = { host: listen.host ?? '::', trustedProxies, ...(tls !== undefined && { tls }) }
  const admin = await listenAdmin({
    app: createAdminApp({ ...shared, access, pageDirectory: shippedPage }),
    listen,
  })
  try {
    const control = await listenControlSocket({
      app: createAdminApp({ ...shared, access: 'control' }),
      path: options.controlSocket,
    })
    return {
      url: urlOfListener(admin.address).replace(/^http:/, tls === undefined ? 'http:' : 'https:'),
      renewCertificate({ config }) {
        if (tls !== undefined && config.admin.tls !== undefined) admin.renewCertificate(config.admin.tls)
      },
      async stop() {
        await control.close()
        await admin.close()
      },
    }
  } catch (error) {
    await admin.close()
    throw error
  }
}
