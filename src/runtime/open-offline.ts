import type { LoadedConfig } from '../config/load-config.ts'
import type { Log } from '../core/log.ts'
import { readLoaderCatalogue } from '../loaders/loader-catalogue.ts'
import { createOperations } from './create-operations.ts'
import { openEngine } from './engine.ts'
import { createLeaseWriter } from './lease-writer.ts'
import { realClock, realTimers } from './real-time.ts'
import type { OfflineOperations } from './service.ts'
import { shippedTemplates } from './shipped-templates.ts'
import { createSwappableRenderer } from './swappable-renderer.ts'

/**
 * The operations on a data directory that no service uses, under its lock. Nothing happens in the background.
 * @throws ServiceError DATA_DIRECTORY_LOCKED and others of opening it
 */
export async function openOffline(options: {
  readonly loaded: LoadedConfig
  readonly log: Log
}): Promise<OfflineOperations> {
  const { loaded, log } = options
  const clock = realClock
  const timers = realTimers
  const engine = await openEngine({ loaded, log, clock, timers, follows: false })
  try {
    // Boots that a stopped service began may still go on when it comes back.
    await createLeaseWriter({
      leases: engine.leases,
      store: engine.storage.store,
      clock,
      timers,
      log,
    }).restore()
    const renderer = createSwappableRenderer({
      templatesDirectory: shippedTemplates,
      catalog: engine.publisher,
      adminDirectory: loaded.config.templatesDirectory,
    })
    await engine.configure(loaded)
    const { address, http } = loaded.config.boot
    const host = address?.address ?? http.listen.host ?? '127.0.0.1'
    const port = address?.port ?? http.listen.port
    const operations = createOperations({
      engine,
      renderer: () => renderer,
      loaders: { current: () => readLoaderCatalogue(engine.loaded().config.boot.loaders) },
      clock,
      parts: () => [{ part: 'boot-http', ready: false, reason: 'no service runs on this data directory' }],
      reload: async () => ({ changed: false, error: 'no service runs on this data directory' }),
      onBadBlob: () => {},
      baseUrl: () => `http://${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`,
    })
    return { operations, close: () => engine.stop() }
  } catch (error) {
    await engine.stop()
    throw error
  }
}
