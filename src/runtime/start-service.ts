import { createAddressGuard } from '../boot/address-guard.ts'
import { createStrangers, strangerIn } from '../boot/strangers.ts'
import { createTimeline } from '../boot/timeline/create-timeline.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { watchConfig } from '../config/watch-config.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { Clock, Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import { nobodySeen, type SeenMachines } from '../core/seen-machines.ts'
import type { DhcpPorts } from '../dhcp/destination.ts'
import type { InheritedSocket } from '../dhcp/inherited-sockets.ts'
import { listInterfaceAddresses } from '../dhcp/interface-addresses.ts'
import { listenControlSocket } from '../http/admin/control-socket.ts'
import { createAdminApp } from '../http/admin/create-admin-app.ts'
import type { PartReadiness } from '../http/admin/operations.ts'
import { baseUrl } from '../http/boot/base-url.ts'
import {
  type BootListenerOptions,
  type BoundAddress,
  createBootListener,
} from '../http/boot/boot-listener.ts'
import { loadKernelFiles } from '../http/boot/kernel-files.ts'
import { bootRoutes } from '../http/boot/routes.ts'
import { createBootLog } from '../telemetry/boot-log.ts'
import { createMetrics } from '../telemetry/create-metrics.ts'
import { readVersion } from '../telemetry/read-version.ts'
import { changesThatNeedRestart } from './changes-that-need-restart.ts'
import { fetchByTftp } from './clients/fetch-by-tftp.ts'
import { createOperations } from './create-operations.ts'
import { createInsideDoctor } from './doctor/inside-doctor.ts'
import { openEngine } from './engine.ts'
import { createEventQueue } from './event-queue.ts'
import { type FleetParts, openFleet } from './fleet/create-fleet-operations.ts'
import { createLeaseWriter } from './lease-writer.ts'
import { type AdminListener, listenAdmin } from './listen-admin.ts'
import { createLoaderShelf } from './loader-shelf.ts'
import { macOfStep } from './mac-of-step.ts'
import { realClock, realTimers } from './real-time.ts'
import { createKernelCheck } from './self-test/kernel-check.ts'
import { lookAtHandOuts } from './self-test/look-at-hand-outs.ts'
import { createSelfTest } from './self-test/self-test.ts'
import type { Service } from './service.ts'
import { shippedPage, shippedTemplates } from './shipped-templates.ts'
import { type BootNetwork, startBootNetwork } from './start-boot-network.ts'
import { startFeed } from './start-feed.ts'
import { startSecrets } from './start-secrets.ts'
import { createStrangerWriter } from './stranger-writer.ts'
import { streamFigures } from './stream-figures.ts'
import { createStreamWatch, type StreamWatch } from './stream-watch.ts'
import { streamSummaries } from './summaries.ts'
import { createSwappableRenderer } from './swappable-renderer.ts'
import { startTasks } from './tasks.ts'
import { createBootViews } from './timeline/boot-views.ts'
import { type RunningTimeline, startTimeline } from './timeline/start-timeline.ts'

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
      macOf: (step) => macOfStep(step, { attemptOf: engine.leases.attemptOf, seen: seenMachines }),
    })
    const strangers = createStrangers()
    const noteStranger = (event: BootEvent) => {
      const stranger = strangerIn(event)
      if (stranger !== undefined) strangers.saw(stranger)
    }
    const { feed, changed } = startFeed({ clock })
    let streamWatch: StreamWatch | undefined
    let network: BootNetwork | undefined
    let boots: RunningTimeline | undefined
    let fleet: FleetParts | undefined
    const bootEvents = createEventQueue<BootEvent>((event) => {
      metrics.onBootEvent(event)
      bootLog.write(event)
      noteStranger(event)
      // What its machine runs by now is in its memory or on its disk, whole (G6).
      if (event.type === 'reported' && event.status !== 'failed') engine.leases.end(event.bootId)
      if (withTimeline) boots?.note(event)
      // An iPXE that lacks something is sent for another one, and has not come any further yet.
      if (event.type === 'decided' && event.kind !== 'chainload' && event.mac !== undefined) {
        network?.noteDecision(event.mac)
      }
    })
    const requests = createEventQueue<RequestFacts>((facts) => metrics.onRequest('boot', ...facts))
    stops.push(() => {
      bootEvents.drain()
      bootLog.flush()
      requests.drain()
    })
    const onBadBlob = () => metrics.onVerifyFailure('scrub')
    const kernels = createKernelCheck()
    const selfTest = createSelfTest({
      look: () =>
        lookAtHandOuts({
          loaded: engine.loaded,
          inventory: () => engine.fleet.inventory(),
          loaders,
          catalog: engine.publisher,
          listAddresses: listInterfaceAddresses,
          fetch: fetchByTftp,
          kernels,
        }),
      lookForMending: () => loaders.refresh(),
      timers,
      log,
    })
    // The boot listener is open before DHCP is, and asks it later.
    const seen = (): SeenMachines => network ?? nobodySeen
    const seenMachines: SeenMachines = {
      macOf: (address) => seen().macOf(address),
      addressOf: (mac) => seen().addressOf(mac),
      machineOf: (mac) => seen().machineOf(mac),
    }
    const guard = createAddressGuard({
      isOn: () => engine.loaded().config.boot.tokens.bind === 'address',
      seen: seenMachines,
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
      onBadBlob,
      onRefused: (change) => metrics.onRefused(change),
      onPublished() {
        for (const stream of engine.publisher.current().streams.values()) {
          metrics.setStream(stream.name, streamFigures(stream))
        }
        metrics.setCacheBytes(engine.storage.blobIndex.usedBytes())
        if (network !== undefined) selfTest.check()
        streamWatch?.note()
      },
    })
    stops.push(() => engine.stop())

    const renderer = createSwappableRenderer({
      templatesDirectory: shippedTemplates,
      catalog: engine.publisher,
      adminDirectory: loaded.config.templatesDirectory,
    })

    const leaseWriter = createLeaseWriter({
      leases: engine.leases,
      store: engine.storage.store,
      clock,
      timers,
      log,
      onRestored(attempts) {
        engine.newestBoots.restore(attempts)
        guard.restore(attempts)
      },
    })
    await leaseWriter.restore()
    leaseWriter.start()
    stops.push(() => leaseWriter.stop())
    const isKnown = (mac: MacAddress) => engine.fleet.inventory().hostsByMac.has(mac)
    const strangerWriter = createStrangerWriter({
      strangers,
      store: engine.storage.store,
      isKnown,
      timers,
      log,
    })
    await strangerWriter.restore()
    strangerWriter.start()
    stops.push(() => strangerWriter.stop())
    const timeline = await startTimeline({
      create: (listeners) => createTimeline({ clock, random: Math.random, listeners }),
      store: engine.storage.store,
      keepMs: () => engine.loaded().config.retention.bootsMs,
      publish: feed.publish,
      onOver(attempt) {
        metrics.onAttemptOver(attempt)
        bootLog.onOver(attempt)
      },
      onDiagnosis(attempt, diagnosis) {
        metrics.onDiagnosis(diagnosis.code)
        bootLog.onDiagnosis(attempt, diagnosis)
      },
      clock,
      timers,
      log,
    })
    boots = timeline
    stops.push(() => {
      bootEvents.drain()
      return timeline.stop()
    })
    metrics.observeAttempts(timeline.machines.counts)
    const views = createBootViews({
      engine,
      ...timeline,
      strangerSeenAt: strangers.lastSeenAt,
      clock,
    })
    const strangersNow = () => strangers.list().filter(({ mac }) => !isKnown(mac))
    const fleetParts = await openFleet({
      engine,
      boots: views.seen,
      seen: {
        list: strangersNow,
        forget(macs) {
          strangers.forget(macs)
          return engine.storage.store.removeSeenMachines(macs)
        },
      },
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
    for (const { pattern, method } of bootRoutes) {
      for (const routeMethod of method === undefined ? ['GET', 'HEAD'] : [method]) {
        metrics.declareRoute(pattern, routeMethod)
      }
    }
    const loaders = createLoaderShelf({
      directories: boot.loaders,
      clock,
      log,
      onRead: () => selfTest.check(),
    })
    const bootListener = createBootListener({
      loaders,
      seen: seenMachines,
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
      onContact: (address) => network?.noteContact(address),
      onFileProblem: (sha256) => void engine.recheck(sha256),
      onLoaderProblem: () => loaders.refresh(),
    })

    /** Why the newest files are not in force: they are no configuration, or could not be taken over. */
    let refused: string | undefined
    let notTaken: string | undefined
    /** Keys that differ from what this process was started with, and that it cannot take over. */
    let needsRestart: readonly string[] = []
    let taking: Promise<void> = Promise.resolve()
    const watcher = watchConfig({
      loaded,
      load: reload,
      timers,
      onReload(outcome) {
        refused = outcome.kind === 'refused' ? outcome.error.message : undefined
        if (refused !== undefined) log.error({ error: refused }, 'configuration not taken, the old one stays')
        if (outcome.kind === 'changed') taking = taking.then(() => take(outcome.loaded))
      },
    })
    stops.push(() => watcher.stop())

    let adminListener: AdminListener | undefined

    async function take(next: LoadedConfig): Promise<void> {
      try {
        renderer.configure(next.config.templatesDirectory)
        loaders.configure(next.config.boot.loaders)
        for (const name of engine.loaded().config.streams.keys()) {
          if (!next.config.streams.has(name)) metrics.forgetStream(name)
        }
        await engine.configure(next)
        if (loaded.config.admin.tls !== undefined && next.config.admin.tls !== undefined) {
          adminListener?.renewCertificate(next.config.admin.tls)
        }
        notTaken = undefined
        // The listeners are as they were opened, whatever the file said in between.
        needsRestart = changesThatNeedRestart(loaded.config, next.config)
        selfTest.check()
        void engine.ensureWanted()
        log.info({ files: next.files.length, needsRestart }, 'configuration taken')
        for (const warning of next.warnings)
          log.warn({ warning: problemText(warning) }, 'configuration warning')
      } catch (error) {
        notTaken = error instanceof Error ? error.message : String(error)
        log.error({ error: notTaken }, 'configuration not taken, the old one stays')
      }
    }

    await engine.configure(loaded)
    const watchedStreams = createStreamWatch({
      summaries: () => streamSummaries(engine),
      publish: feed.publish,
      timers,
    })
    streamWatch = watchedStreams
    stops.push(() => watchedStreams.stop())
    const bound = await bootListener.listen(inheritedHttp(inherited) ?? boot.http.listen)
    stops.push(() => bootListener.close({ graceMs: 2_000 }))
    const bootUrl = urlOf(bound, boot.address ?? {})

    const configError = () => refused ?? notTaken
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
    network = started
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
      {
        part: 'config',
        ready: true,
        ...configNote(configError(), needsRestart),
      },
    ]
    metrics.observeParts(parts)
    const bootOperations = views.operations({
      hosts: fleetParts.hosts,
      strangers: strangersNow,
      captureOf: started.captureOf,
      diagnose: () => diagnose(),
    })
    const operations = createOperations({
      fleet: fleetParts.operations,
      boots: bootOperations,
      events: feed,
      engine,
      renderer: () => renderer,
      loaders,
      clock,
      parts,
      async reload() {
        const { kind } = watcher.reload()
        await taking
        const error = configError()
        return {
          changed: kind === 'changed' && error === undefined,
          ...(error === undefined ? {} : { error }),
          ...(needsRestart.length === 0 ? {} : { needsRestart }),
        }
      },
      onBadBlob,
      baseUrl: () => bootUrl,
    })

    const diagnose = createInsideDoctor({
      loaded: engine.loaded,
      operations,
      listPatterns: bootOperations.listPatterns,
      clock,
    })
    const shared = { operations, metrics, log, version, clock, timers }
    const { listen, tls, trustedProxies } = loaded.config.admin
    const access = { host: listen.host ?? '::', trustedProxies, ...(tls !== undefined && { tls }) }
    const admin = await listenAdmin({
      app: createAdminApp({ ...shared, access, pageDirectory: shippedPage }),
      listen,
    })
    adminListener = admin
    stops.push(() => admin.close())
    const control = await listenControlSocket({
      app: createAdminApp({ ...shared, access: 'control' }),
      path: engine.storage.directory.controlSocket,
    })
    stops.push(() => control.close())

    void engine.ensureWanted()
    const tasks = startTasks({ engine, timers, log, onBadBlob })
    stops.push(() => tasks.stop())

    return {
      bootUrl,
      adminUrl: urlOf(admin.address, {}).replace(/^http:/, tls === undefined ? 'http:' : 'https:'),
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

/** What an admin should know of a configuration with which the service is ready all the same. */
function configNote(
  error: string | undefined,
  needsRestart: readonly string[],
): { readonly reason?: string } {
  if (error !== undefined) return { reason: `the last good one is in force: ${error}` }
  return needsRestart.length === 0
    ? {}
    : { reason: `restart the service to take over ${needsRestart.join(', ')}` }
}

/** The one socket named `http`, in place of the configured address. @throws ServiceError LISTEN_FAILED for several */
function inheritedHttp(inherited: readonly InheritedSocket[]): { readonly fd: number } | undefined {
  const [first, ...others] = inherited.filter(({ name }) => name === 'http')
  if (others.length > 0) {
    throw new ServiceError(
      'LISTEN_FAILED',
      'several inherited sockets are named http, the boot listener takes one: leave one ListenStream= in the socket unit (port 80 alone listens on IPv4 and IPv6)',
    )
  }
  return first && { fd: first.fd }
}

/** In the reverse order of their start; one that fails does not keep the others running. */
async function stopAll(stops: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = []
  for (const stop of [...stops].reverse()) {
    try {
      await stop()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** A URL that works on this machine; every address is said as loopback. */
function urlOf(
  { host, port }: BoundAddress,
  configured: { readonly address?: string; readonly port?: number },
): string {
  const isAny = host === '::' || host === '0.0.0.0'
  return baseUrl(configured, { localAddress: isAny ? '127.0.0.1' : host, localPort: port })
}
