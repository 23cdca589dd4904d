import { randomBytes } from 'node:crypto'
import { createAddressGuard } from '../boot/address-guard.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { DhcpPorts } from '../dhcp/destination.ts'
import type { InheritedSocket } from '../dhcp/inherited-sockets.ts'
import type { PartReadiness } from '../http/admin/operations.ts'
import { type BootListenerOptions, createBootListener } from '../http/boot/boot-listener.ts'
import { loadKernelFiles } from '../http/boot/kernel-files.ts'
import { createBootLog } from '../telemetry/boot-log.ts'
import { createMetrics } from '../telemetry/create-metrics.ts'
import { readVersion } from '../telemetry/read-version.ts'
import { createBootEventSink } from './boot-event-sink.ts'
import { declareBootRoutes } from './declare-boot-routes.ts'
import { openEngine } from './engine.ts'
import { createEventQueue } from './event-queue.ts'
import { type FleetParts, openFleet } from './fleet/create-fleet-operations.ts'
import { followConfiguration } from './follow-configuration.ts'
import { inheritedHttp } from './inherited-http.ts'
import { createLateNetwork } from './late-network.ts'
import { createLoaderShelf } from './loader-shelf.ts'
import { macOfStep } from './mac-of-step.ts'
import { realClock, realTimers } from './real-time.ts'
import { createStrangerMemory, rememberMachines } from './remember-machines.ts'
import { createRequestTraces } from './request-traces.ts'
import { startSelfTest } from './self-test/start-self-test.ts'
import type { Service } from './service.ts'
import { createServiceOperations } from './service-operations.ts'
import { shippedTemplates } from './shipped-templates.ts'
import { type AdminListeners, startAdmin } from './start-admin.ts'
import { startBootNetwork } from './start-boot-network.ts'
import { startFeed } from './start-feed.ts'
import { startSecrets } from './start-secrets.ts'
import { stopAll } from './stop-all.ts'
import { streamFigures } from './stream-figures.ts'
import { createStreamWatch, type StreamWatch } from './stream-watch.ts'
import { streamSummaries } from './summaries.ts'
import { createSwappableRenderer } from './swappable-renderer.ts'
import { startTasks } from './tasks.ts'
import { seeBoots } from './timeline/see-boots.ts'
import { urlOfListener } from './url-of-listener.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'
import { createWebhookOperations } from './webhooks/webhook-operations.ts'

type RequestFacts = Parameters<NonNullable<BootListenerOptions['onRequest']>>

export interface StartServiceOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** Reads the configuration again. @throws ServiceError CONFIG_INVALID, CONFIG_UNREADABLE */
  readonly reload: () => LoadedConfig
  /** Sockets that the service manager opened. */
  readonly inherited?: readonly InheritedSocket[]
  /** Other UDP ports for DHCP; for the demo and for tests, since firmware knows the usual ones alone. */
  readonly dhcpPorts?: DhcpPorts
  /** Whether steps of boots are joined and kept; off to measure what that costs. */
  readonly withTimeline?: boolean
  /** Default: the machine's; another one for tests that let hours pass or set the clock back. */
  readonly clock?: Clock
  readonly timers?: Timers
}

/**
 * The whole service: engine, boot listener, admin listener, control socket. Whatever was started before something
 * fails is stopped again.
 * @throws ServiceError when the data directory, a template or a listener cannot be had
 */
export async function startService({
  loaded,
  log,
  reload,
  inherited = [],
  dhcpPorts,
  withTimeline = true,
  clock = realClock,
  timers = realTimers,
}: StartServiceOptions): Promise<Service> {
  const version = readVersion()
  const stops: (() => Promise<void> | void)[] = []
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= stopAll(stops)
    return stopping
  }

  try {
    const metrics = createMetrics({ version, clock })
    const bootLog = createBootLog({
      log,
      clock,
      timers,
      macOf: (step) => macOfStep(step, { attemptOf: engine.leases.attemptOf, seen: network }),
    })
    const { strangers, note: noteStranger } = createStrangerMemory()
    const traces = createRequestTraces(() => randomBytes(8).toString('hex'))
    const currentTrace = traces.current
    const webhooks = startWebhooks({
      version,
      currentTrace,
      onOutcome: metrics.onWebhook,
      clock,
      timers,
      log,
    })
    webhooks.configure(loaded.config)
    stops.push(() => webhooks.stop())
    const { feed, changed } = startFeed({ clock, onChanged: webhooks.onChanged, currentTrace, log })
    let streamWatch: StreamWatch | undefined
    const network = createLateNetwork()
    let seeing: Awaited<ReturnType<typeof seeBoots>> | undefined
    let fleet: FleetParts | undefined
    const bootEvents = createEventQueue(
      createBootEventSink({
        metrics,
        bootLog,
        engine: () => engine,
        network,
        noteStranger,
        noteStep: (event) => withTimeline && seeing?.note(event),
      }),
    )
    const requests = createEventQueue<RequestFacts>((facts) => metrics.onRequest('boot', ...facts))
    stops.push(() => {
      bootEvents.drain()
      bootLog.flush()
      requests.drain()
    })
    const onBadBlob = () => metrics.onVerifyFailure('scrub')
    const selfTest = startSelfTest({ engine: () => engine, loaders: () => loaders, timers, log })
    const guard = createAddressGuard({
      isOn: () => engine.loaded().config.boot.tokens.bind === 'address',
      seen: network,
      clock,
      log,
    })
    const engine = await openEngine({
      loaded,
      guard,
      log,
      clock,
      timers,
      follows: true,
      onBootEvent: bootEvents.push,
      onInstallServed: (host, bootId) => fleet?.installs.served(host, bootId),
      onFetchEvent(event) {
        metrics.onFetchEvent(event)
        streamWatch?.note()
      },
      traceHeaders: traces.headers,
      onBadBlob,
      onRefused: (change) => metrics.onRefused(change),
      onPublished() {
        for (const stream of engine.publisher.current().streams.values()) {
          metrics.setStream(stream.name, streamFigures(stream))
        }
        metrics.setCacheBytes(engine.storage.blobIndex.usedBytes())
        if (network.started() !== undefined) selfTest.check()
        streamWatch?.note()
      },
    })
    stops.push(() => engine.stop())

    const renderer = createSwappableRenderer({
      templatesDirectory: shippedTemplates,
      catalog: engine.publisher,
      adminDirectory: loaded.config.templatesDirectory,
    })

    const remembered = await rememberMachines({ engine, guard, strangers, clock, timers, log })
    stops.push(() => remembered.stop())
    const saw = await seeBoots({
      engine,
      publish: feed.publish,
      metrics,
      bootLog,
      onOver: webhooks.onOver,
      onDiagnosis: webhooks.onDiagnosis,
      strangerSeenAt: strangers.lastSeenAt,
      clock,
      timers,
      log,
    })
    seeing = saw
    stops.push(() => {
      bootEvents.drain()
      return saw.stop()
    })
    const fleetParts = await openFleet({
      engine,
      boots: saw.views.seen,
      seen: remembered.seen,
      fetches: true,
      onRestored: () => secrets.readKey(),
      onChanged: changed,
      clock,
      timers,
      log,
    })
    fleet = fleetParts
    stops.push(() => fleetParts.stop())
    const secrets = await startSecrets({
      engine,
      guard,
      record: fleetParts.record,
      onRefused: (refusal) => metrics.onRefusedToken(refusal),
      onEvent: bootEvents.push,
      clock,
      log,
    })

    const { boot } = loaded.config
    declareBootRoutes(metrics)
    const loaders = createLoaderShelf({
      directories: boot.loaders,
      clock,
      log,
      onRead: () => selfTest.check(),
    })
    const bootListener = createBootListener({
      loaders,
      seen: network,
      secrets,
      catalog: engine.publisher,
      bootService: engine.bootService,
      renderer,
      log,
      clock,
      urls: boot.address ?? {},
      ignoredMachines: boot.http.ignoredMachines,
      kernel: await loadKernelFiles(),
      onEvent: bootEvents.push,
      onRequest: (...facts) => requests.push(facts),
      onContact: (address) => network.started()?.noteContact(address),
      onFileProblem: (sha256) => void engine.recheck(sha256),
      onLoaderProblem: () => loaders.refresh(),
    })

    let admin: AdminListeners | undefined
    const configuration = followConfiguration({
      loaded,
      load: reload,
      async take(next) {
        renderer.configure(next.config.templatesDirectory)
        loaders.configure(next.config.boot.loaders)
        for (const name of engine.loaded().config.streams.keys()) {
          if (!next.config.streams.has(name)) metrics.forgetStream(name)
        }
        await engine.configure(next)
        webhooks.configure(next.config)
        admin?.renewCertificate(next)
        selfTest.check()
        void engine.ensureWanted()
      },
      timers,
      log,
    })
    stops.push(() => configuration.stop())

    await engine.configure(loaded)
    const watchedStreams = createStreamWatch({
      summaries: () => streamSummaries(engine),
      publish: feed.publish,
      onChange: webhooks.onStream,
      timers,
    })
    streamWatch = watchedStreams
    stops.push(() => watchedStreams.stop())
    const bound = await bootListener.listen(inheritedHttp(inherited) ?? boot.http.listen)
    stops.push(() => bootListener.close({ graceMs: 2_000 }))
    const bootUrl = urlOfListener(bound, boot.address ?? {})

    const started = await startBootNetwork({
      config: loaded.config,
      bootPort: bound.port,
      engine,
      renderer,
      secrets,
      loaders,
      inherited,
      ...(dhcpPorts === undefined ? {} : { dhcpPorts }),
      clock,
      timers,
      log,
      onBootEvent: bootEvents.push,
      onStranger: strangers.saw,
    })
    network.is(started)
    stops.push(() => started.stop())
    selfTest.check()
    stops.push(() => selfTest.stop())
    const { dhcp, tftp } = started.figures()
    if (dhcp !== undefined) metrics.observeDhcp(dhcp)
    if (tftp !== undefined) metrics.observeTftp(tftp)

    const parts = (): readonly PartReadiness[] => [
      ...started.parts(),
      ...[selfTest.part()].filter((part) => part !== undefined),
      { part: 'boot-http', ready: bootListener.address() !== undefined },
      { part: 'state', ready: true, ...stateNote(fleetParts.trouble()) },
      configuration.part(),
    ]
    metrics.observeParts(parts)
    const operations = createServiceOperations({
      fleet: fleetParts,
      views: saw.views,
      strangers: remembered.seen.list,
      captureOf: started.captureOf,
      events: feed,
      engine,
      renderer: () => renderer,
      loaders,
      clock,
      parts,
      webhooks: createWebhookOperations(webhooks),
      reload: () => configuration.reload().finally(webhooks.retryGone),
      onBadBlob,
      baseUrl: () => bootUrl,
    })
    const listeners = await startAdmin({
      loaded,
      controlSocket: engine.storage.directory.controlSocket,
      app: { operations, metrics, log, version, clock, timers, withinTrace: traces.within },
    })
    admin = listeners
    stops.push(() => listeners.stop())

    void engine.ensureWanted()
    const tasks = startTasks({ engine, clock, timers, log, onBadBlob })
    stops.push(() => tasks.stop())

    return {
      bootUrl,
      adminUrl: listeners.url,
      tftpAddresses: started.tftpAddresses,
      operations,
      stop,
    }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}

/** Machines boot from memory, so a store that takes nothing makes the service limp, not unready (G4). */
function stateNote(trouble: string | undefined): { readonly reason?: string } {
  return trouble === undefined
    ? {}
    : { reason: `the last change could not be written, machines boot from memory: ${trouble}` }
}
