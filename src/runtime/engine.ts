import { randomBytes } from 'node:crypto'
import type { FetchEvent } from '../artifacts/fetcher.ts'
import { planSync, type Urgency, type WantedSet } from '../artifacts/plan-sync.ts'
import type { AddressGuard } from '../boot/address-guard.ts'
import type { BootService } from '../boot/boot-service.ts'
import { createBootService } from '../boot/create-boot-service.ts'
import { createLeases, type Leases } from '../boot/leases.ts'
import { createNewestBoots, type NewestBoots } from '../boot/newest-boots.ts'
import { createPublisher, type Publisher } from '../catalog/publisher.ts'
import type { StreamConfig } from '../config/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { BootEvent, BootId } from '../core/boot-event.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { ChangeClass } from '../core/change.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import { type BootimageSync, createBootimageSync, filesOf } from '../rollout/bootimage-sync.ts'
import { createGarbageCollector, type GarbageCollector } from '../rollout/collect-garbage.ts'
import { createFetchProgress, type FetchProgress } from '../rollout/fetch-progress.ts'
import { createPinResolver, type FoundRelease, type PinResolver } from '../rollout/pin-resolver.ts'
import { createStreamDriver, type StreamDriver } from '../rollout/stream-driver.ts'
import { isPinOfGone, type WantedPin, wantedPins } from '../rollout/wanted-pins.ts'
import type { RefreshedDocument } from '../streams/refresher.ts'
import { createFileChecker, type FileChecker } from './check-files.ts'
import { documentRecord } from './document-record.ts'
import { createExtraInitrds, type ExtraInitrds } from './extra-initrds.ts'
import { createFleetView, type FleetView } from './fleet/fleet-view.ts'
import { warnOfConflicts } from './fleet/warn-of-conflicts.ts'
import { makeRoom } from './make-room.ts'
import { createFileProver, type FileProver } from './prove-files.ts'
import { createReleaseFinder } from './release-finder.ts'
import { openStorage, type Storage } from './storage.ts'
import { createStreamSet, type StreamSet } from './stream-set.ts'
import { createSwappableFetcher, type SwappableFetcher } from './swappable-fetcher.ts'
import { isTrustNarrower } from './trust.ts'
import { warnOfKeys } from './warn-of-keys.ts'

export interface EngineOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  readonly clock: Clock
  readonly timers: Timers
  /** Follow the streams and retry in the background; else things happen only when asked for. */
  readonly follows: boolean
  readonly onBootEvent?: (event: BootEvent) => void
  /** Which machine may be answered at which address; default: all of them. */
  readonly guard?: AddressGuard
  /** A host was answered with an install script. */
  readonly onInstallServed?: (host: string, bootId: BootId) => void
  readonly onFetchEvent?: (event: FetchEvent) => void
  /** After each new snapshot. */
  readonly onPublished?: () => void
  /** One architecture's part of a document was not followed. */
  readonly onRefused?: (change: ChangeClass) => void
  /** Headers of a request to the outside, of the trace of whatever caused it. */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
  /** A file that was verified is damaged now. */
  readonly onBadBlob?: () => void
}

/** Everything but the listeners: from configuration and data directory to snapshots and decisions. */
export interface Engine {
  readonly storage: Storage
  readonly publisher: Publisher
  readonly leases: Leases
  readonly newestBoots: NewestBoots
  /** What files and admins say of machines now. */
  readonly fleet: FleetView
  readonly bootService: BootService
  readonly streams: StreamSet
  readonly driver: StreamDriver
  readonly sync: BootimageSync
  readonly pins: PinResolver
  /** Looks for a release in archived documents and in the release index of its stream, without wanting it. */
  findRelease(pin: WantedPin): Promise<FoundRelease>
  /** Somebody else wrote resolved pins, with their bootimages: they count from now on. */
  reloadPins(): Promise<void>
  readonly garbage: GarbageCollector
  readonly fetcher: SwappableFetcher
  readonly progress: FetchProgress
  /** Reads again what changed while nobody looked. */
  readonly prover: FileProver
  loaded(): LoadedConfig
  /** Takes a new configuration; what is being booted goes on as it was (G2). */
  configure(loaded: LoadedConfig): Promise<void>
  /** Pins in force are those of now; resolves when each was found or not. */
  lookForPins(): Promise<void>
  /** Fetches what current, targets and pins need and what is not there; resolves when all of it is there or failed. */
  ensureWanted(streams?: ReadonlySet<string>): Promise<void>
  /**
   * A file is not as it was verified: it is read again and, if it is missing or damaged, leaves the snapshot and is
   * fetched again for every set that was ready (G1). Never rejects.
   */
  recheck(sha256: Sha256): Promise<void>
  publish(): void
  stop(): Promise<void>
}

const neverAgain: Timers = { after: () => () => {} }

/** @throws ServiceError for a data directory that cannot be opened */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { log, clock } = options
  // A command reports what it found; nothing begins again behind its back.
  const timers = options.follows ? options.timers : neverAgain
  let loaded = options.loaded
  const storage = await openStorage({ dataDirectory: loaded.config.dataDir, clock, log })
  const { ledger, blobIndex, store, archive } = storage
  const leases = createLeases()
  const newestBoots = createNewestBoots()
  const fleet = createFleetView()
  fleet.load(await store.loadFleet())
  fleet.takeFiles(loaded.inventory)
  const progress = createFetchProgress()
  const publisher = createPublisher({ onPublished: () => options.onPublished?.() })
  const streamOf = (name: string): StreamConfig | undefined => loaded.config.streams.get(name)

  const fetcher = createSwappableFetcher({
    dataDirectory: loaded.config.dataDir,
    ...(options.traceHeaders && { traceHeaders: options.traceHeaders }),
    onEvent(event) {
      progress.onFetchEvent(event)
      options.onFetchEvent?.(event)
    },
  })
  let isStopping = false
  const extras: ExtraInitrds = createExtraInitrds({
    fetcher,
    blobIndex,
    prove: (sha256) => checker.prove(sha256),
    log,
    onIngested: publish,
  })

  function publish(): void {
    const readings = driver.readings()
    publisher.publish({
      streams: [...loaded.config.streams.values()].map(({ name, architectures, signatures }) => ({
        name,
        architectures,
        requiresSignatures: signatures === 'required',
        ...(readings.get(name) ?? { health: { problems: [] } }),
      })),
      bootimages: ledger.bootimages.values(),
      heads: ledger.heads.values(),
      pins: ledger.pins.values(),
      blobs: blobIndex.facts,
      extraInitrds: extras.all(),
    })
  }

  const isWanted = (id: BootimageId): boolean => {
    const bootimage = ledger.bootimages.get(id)?.bootimage
    if (bootimage === undefined) return false
    const head = ledger.headOf(bootimage.stream, bootimage.arch)
    const isFollowed = streamOf(bootimage.stream)?.architectures.includes(bootimage.arch) === true
    return (isFollowed && (head.target === id || head.current === id)) || pins.pinned().has(id)
  }

  const sync = createBootimageSync({
    ledger,
    fetcher,
    blobIndex,
    settingsOf(name) {
      const stream = streamOf(name)
      if (stream === undefined) return undefined
      const { mirrors, signatures, keys } = stream
      return { mirrors, signatures, trustedKeys: keys.map(({ text }) => text) }
    },
    isWanted,
    prove: (sha256) => checker.prove(sha256),
    ensureSpace: ({ bootimage }) =>
      makeRoom({
        bootimage,
        mirrors: streamOf(bootimage.stream)?.mirrors ?? [],
        storage,
        upstream: streams.client(),
        garbage,
      }),
    onReady: async (id) => {
      await driver.settle(id)
      publish()
      await garbage
        .run()
        .catch((error: unknown) => log.warn({ error: String(error) }, 'garbage not collected'))
    },
    onChanged: publish,
    refreshStream: async (name) => {
      await streams.refresh(name, { fresh: true })
    },
    clock,
    timers,
    log,
  })

  const ensure = (id: BootimageId): void => {
    void sync.ensure(id)
  }

  const driver = createStreamDriver({
    ledger,
    settingsOf(name) {
      const stream = streamOf(name)
      return stream && { architectures: stream.architectures, policies: stream.changes, keep: stream.keep }
    },
    askCanonical: async (name) => {
      try {
        return (await streams.canonical(name))?.resolution
      } catch (error) {
        if (!isStopping)
          log.warn({ stream: name, error: String(error) }, 'the canonical source could not be asked')
        return undefined
      }
    },
    ensure,
    onChanged: publish,
    onRefused: (change) => options.onRefused?.(change),
    clock,
    log,
  })

  const readDocument = async (document: RefreshedDocument): Promise<void> => {
    await archive.write(document.bytes)
    await driver.read({
      document: documentRecord(document, clock.now()),
      resolution: document.resolution,
      lastModified: document.metadata.lastModified,
      viaMirror: document.viaMirror,
    })
    void pins.retry()
  }

  const streams = createStreamSet({
    clock,
    timers: options.timers,
    random: Math.random,
    log,
    follows: options.follows,
    ...(options.traceHeaders && { traceHeaders: options.traceHeaders }),
    onDocument: readDocument,
    onUnchanged: async ({ stream }) => {
      await driver.unchanged(stream)
      for (const head of ledger.heads.values()) {
        if (head.stream === stream && head.target !== undefined) sync.retryNow(head.target)
      }
    },
    onFailure(stream, failure) {
      log.warn({ stream, ...failure }, 'stream not refreshed')
      driver.failed(stream, failure)
    },
  })

  const findRelease = createReleaseFinder({ store, archive, streamOf, streams: () => streams, clock })
  const pins = createPinResolver({
    ledger,
    findRelease,
    recordDocument: (document) => store.recordDocument(document),
    ensure: (id) => sync.want(id),
    onChanged: publish,
    clock,
    timers,
    log,
  })

  const garbage = createGarbageCollector({
    ledger,
    blobs: storage.blobs,
    blobIndex,
    keepOf: (name) => streamOf(name)?.keep,
    pinned: () => {
      const ofGone = [...ledger.pins.values()].filter(isPinOfGone(fleet.inventory()))
      return new Set([...pins.pinned(), ...ofGone.map(({ bootimage }) => bootimage)])
    },
    leased: () => leases.leasedBootimages(clock.now()),
    isExtra: (sha256) => extras.has(sha256),
    publish,
    // A service that has just started does not know every boot in progress. Where none runs there is none: what the
    // last one wrote down is all there is, and its machines find their files again as long as their leases last.
    startedAt: options.follows ? clock.now() : 0,
    clock,
    log,
  })

  const bootService = createBootService({
    catalog: publisher,
    inventory: () => fleet.inventory(),
    clock,
    randomBytes,
    leases,
    newestBoots,
    ...(options.guard === undefined ? {} : { guard: options.guard }),
    onInstallServed: (host, bootId) => options.onInstallServed?.(host, bootId),
    onEvent: (event) => options.onBootEvent?.(event),
    onWanted({ stream, arch, release }) {
      if (release === undefined) return
      pins.request({ stream, arch, release })
      const { target, current } = ledger.headOf(stream, arch)
      for (const id of new Set([target, current])) {
        if (id !== undefined && ledger.bootimages.get(id)?.bootimage.release === release) sync.want(id)
      }
    },
  })

  async function configure(next: LoadedConfig): Promise<void> {
    const { config } = next
    const before = loaded.config.streams
    for (const name of before.keys()) if (!config.streams.has(name)) driver.forget(name)
    loaded = next
    fleet.takeFiles(next.inventory)
    for (const name of config.streams.keys()) {
      const [last] = await store.listDocuments({ stream: name, limit: 1 })
      driver.remember(name, last)
    }
    await fetcher.configure(config.upstream)
    extras.setWanted(next.inventory)
    publish()
    await streams.configure(config.streams, config.upstream)
    void lookForPins()
    if (options.follows) {
      prover.start()
      recheckReady((name) => isTrustNarrower(before.get(name), config.streams.get(name)))
    }
    await warnOfKeys(config.streams.values(), clock.now(), log)
    warnOfConflicts(fleet.conflicts(), log)
  }

  function lookForPins(): Promise<void> {
    const architecturesOf = (name: string) => streamOf(name)?.architectures
    return pins.setWanted(wantedPins(fleet.inventory(), architecturesOf, clock.now()))
  }

  /** Sets that were ready by rules that are no longer in force, and those that lost a file while no service ran. */
  function recheckReady(isStreamInDoubt: (stream: string) => boolean): void {
    for (const record of ledger.bootimages.values()) {
      const { id, stream } = record.bootimage
      // What is being read again first may be whole after all.
      const isBeingRead = filesOf(record).some((sha256) => blobIndex.doubtful.has(sha256))
      const isInDoubt = isStreamInDoubt(stream) || (!isBeingRead && !sync.isComplete(record))
      if (record.state === 'ready' && isInDoubt) sync.recheck(id)
    }
  }

  async function ensureWanted(names?: ReadonlySet<string>): Promise<void> {
    const wanted: WantedSet[] = []
    const want = (id: BootimageId | undefined, urgency: Urgency) => {
      const record = id === undefined ? undefined : ledger.bootimages.get(id)
      if (record === undefined) return
      const state = record.state === 'ready' && !sync.isComplete(record) ? 'queued' : record.state
      wanted.push({ bootimage: record.bootimage, state, urgency })
    }
    for (const { stream, arch, current, target } of ledger.heads.values()) {
      if (streamOf(stream)?.architectures.includes(arch) !== true) continue
      if (names !== undefined && !names.has(stream)) continue
      want(current, 'current')
      want(target, 'target')
    }
    for (const id of pins.pinned()) want(id, 'pinned')
    const { steps } = planSync({ wanted, present: new Set(blobIndex.facts.keys()) })
    await Promise.all(steps.map(({ bootimage }) => sync.ensure(bootimage.id)))
  }

  const checker: FileChecker = createFileChecker({
    storage,
    fetcher,
    sync,
    extras,
    publish,
    onBadBlob: () => options.onBadBlob?.(),
    log,
  })
  const prover = createFileProver({ blobIndex, checker, order: filesInOrder, clock, timers, log })

  /** What machines wait for comes first. */
  function filesInOrder(): readonly Sha256[] {
    const heads = [...ledger.heads.values()]
    const ids = [
      ...heads.map(({ current }) => current),
      ...pins.pinned(),
      ...leases.leasedBootimages(clock.now()),
      ...heads.map(({ target }) => target),
      ...heads.flatMap(({ previous }) => previous),
      ...ledger.bootimages.keys(),
    ]
    return ids.flatMap((id) => {
      const record = id === undefined ? undefined : ledger.bootimages.get(id)
      return record === undefined ? [] : filesOf(record)
    })
  }

  await driver.settleAll()

  return {
    storage,
    publisher,
    leases,
    newestBoots,
    fleet,
    bootService,
    streams,
    driver,
    sync,
    pins,
    findRelease,
    async reloadPins() {
      await ledger.reloadPins()
      publish()
    },
    garbage,
    fetcher,
    progress,
    loaded: () => loaded,
    configure,
    lookForPins,
    ensureWanted,
    recheck: checker.recheck,
    prover,
    publish,
    async stop() {
      isStopping = true
      // First of all: what is still looked for fails with its client, which is nobody's news.
      const looked = pins.stop()
      await streams.stop()
      await looked
      const proved = prover.stop()
      await sync.stop()
      await fetcher.stop()
      await proved
      await storage.close()
    },
  }
}
