import { statSync } from 'node:fs'
import { createTimeline } from '../boot/timeline/create-timeline.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { silentFeed } from '../core/service-event.ts'
import { readLoaderCatalogue } from '../loaders/loader-catalogue.ts'
import { dataDirectoryPaths } from '../state/data-directory.ts'
import { createOperations } from './create-operations.ts'
import { openEngine } from './engine.ts'
import { openFleet } from './fleet/create-fleet-operations.ts'
import { createLeaseWriter } from './lease-writer.ts'
import { realClock, realTimers } from './real-time.ts'
import type { OfflineOperations } from './service.ts'
import { shippedTemplates } from './shipped-templates.ts'
import { createSwappableRenderer } from './swappable-renderer.ts'
import { createBootViews } from './timeline/boot-views.ts'
import { createMachineIndex } from './timeline/machine-index.ts'
import { restoreAttempts } from './timeline/restore-attempts.ts'
import { noWebhooks } from './webhooks/webhook-operations.ts'

/** As many as the store keeps. */
const mostSeen = 10_000

/**
 * The operations on a data directory that no service uses, under its lock. Nothing happens in the background.
 * @throws ServiceError DATA_DIRECTORY_UNUSABLE where nothing is kept yet and nothing may be created,
 *   DATA_DIRECTORY_LOCKED and others of opening it
 */
export async function openOffline(options: {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** Make the data directory where there is none. */
  readonly mayCreate: boolean
}): Promise<OfflineOperations> {
  const { loaded, log, mayCreate } = options
  if (!mayCreate) checkThatItExists(loaded.config.dataDir)
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
    const timeline = createTimeline({ clock, random: Math.random })
    const machines = createMachineIndex(timeline)
    for (const id of await restoreAttempts({ timeline, store: engine.storage.store, now: clock.now() })) {
      machines.changed(id)
    }
    const memory = { attempt: timeline.attempt, notKept: () => [], goingOn: timeline.goingOn }
    const views = createBootViews({ engine, timeline, machines, memory, clock })
    const seen = await engine.storage.store.listSeenMachines({ limit: mostSeen })
    const fleet = await openFleet({
      engine,
      boots: views.seen,
      seen: { list: () => seen, forget: (macs) => engine.storage.store.removeSeenMachines(macs) },
      fetches: false,
      clock,
      timers,
      log,
    })
    const { address, http } = loaded.config.boot
    const host = address?.address ?? http.listen.host ?? '127.0.0.1'
    const port = address?.port ?? http.listen.port
    const operations = createOperations({
      fleet: fleet.operations,
      boots: views.operations({
        hosts: fleet.hosts,
        strangers: () => seen.filter(({ mac }) => !engine.fleet.inventory().hostsByMac.has(mac)),
        captureOf: () => undefined,
        diagnose: noServiceRuns,
      }),
      events: silentFeed,
      engine,
      renderer: () => renderer,
      loaders: { current: () => readLoaderCatalogue(engine.loaded().config.boot.loaders) },
      clock,
      parts: () => [{ part: 'boot-http', ready: false, reason: 'no service runs on this data directory' }],
      webhooks: noWebhooks,
      reload: async () => ({ changed: false, error: 'no service runs on this data directory' }),
      onBadBlob: () => {},
      baseUrl: () => `http://${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`,
    })
    return {
      operations,
      async close() {
        await fleet.stop()
        await engine.stop()
      },
    }
  } catch (error) {
    await engine.stop()
    throw error
  }
}

/** The command `doctor` looks itself. */
async function noServiceRuns(): Promise<never> {
  throw new ServiceError(
    'NOT_FOUND',
    'no service runs on this data directory, so nothing looks from inside',
    {
      hint: 'pilotlight doctor looks from outside',
    },
  )
}

/** A command that only asks leaves no trace, least of all files that the service's user cannot write later. */
function checkThatItExists(directory: string): void {
  const { path, stateFile } = dataDirectoryPaths(directory)
  try {
    statSync(stateFile)
  } catch (cause) {
    // Whatever else is wrong with it is told by who opens it.
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return
    throw new ServiceError(
      'DATA_DIRECTORY_UNUSABLE',
      `nothing is kept in ${path} yet: no service has run with this data directory`,
      {
        path,
        hint: 'start the service (pilotlight serve) or fetch once (pilotlight sync); --data-dir or --config names another place',
      },
    )
  }
}
