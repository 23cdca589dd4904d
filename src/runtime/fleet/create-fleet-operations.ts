import { randomBytes } from 'node:crypto'
import type { Arch } from '../../core/arch.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import type { AuditEntry, FleetChange, NodeReport } from '../../core/fleet.ts'
import type { Log } from '../../core/log.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { Engine } from '../engine.ts'
import { bootimageSummary } from '../summaries.ts'
import { createAdoptHost, type SeenList } from './adopt-host.ts'
import { createBackupOperations } from './backup-operations.ts'
import { createRevokeBootTokens } from './boot-token-revocation.ts'
import { createChangeQueue } from './change-queue.ts'
import { checkFilters } from './check-filters.ts'
import { checkRelease } from './check-release.ts'
import { createExportRecords } from './export-records.ts'
import type { BootsSeen, FleetContext } from './fleet-context.ts'
import { createFleetMemory } from './fleet-memory.ts'
import { createHistoryOperations } from './history-operations.ts'
import { createHostList, type HostList } from './host-list.ts'
import { createHostOperations } from './host-operations.ts'
import { createHostShow } from './host-show.ts'
import { createImportRecords } from './import-records.ts'
import { allNewMarks } from './install-change.ts'
import { createInstallOperations } from './install-operations.ts'
import { createInstallProgress, type InstallProgress } from './install-progress.ts'
import { createModeOperations } from './mode-operations.ts'
import { createPinFiles } from './pin-files.ts'
import { createPinList } from './pin-list.ts'
import { createPinOperations } from './pin-operations.ts'
import { createPinnable } from './pinnable.ts'
import { createRecordOperations } from './record-operations.ts'
import { createReleaseList } from './release-list.ts'
import { createRevisions } from './revisions.ts'
import { createTokenOperations } from './token-operations.ts'

export interface FleetParts {
  readonly operations: FleetOperations
  /** Hosts in order, with what they are found by. */
  readonly hosts: HostList
  /** What machines do of installs. */
  readonly installs: InstallProgress
  /** Keeps what a node tells of its boot. @throws ServiceError STATE_UNAVAILABLE */
  record(report: NodeReport, issuedAt: number): Promise<'recorded' | 'known'>
  /** Why the last change could not be written; nothing since one was. */
  trouble(): string | undefined
  stop(): Promise<void>
}

export interface FleetPartsOptions {
  readonly engine: Engine
  readonly boots: BootsSeen
  readonly seen: SeenList
  /** Whether pins are fetched when they are set; else by the service that starts next. */
  readonly fetches: boolean
  /** Secrets are read anew after a restore. */
  readonly onRestored?: () => Promise<void>
  /** A change is on disk, in force and in the audit list. */
  readonly onChanged?: (audit: readonly AuditEntry[]) => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

/** Pins that changed one by one are put together for so long before all of them are looked at. */
const wantedAfterMs = 1_000

/**
 * Everything that admins and nodes can ask and do about machines, over a running engine.
 * @throws ServiceError STATE_UNAVAILABLE when the store cannot be read
 */
export async function openFleet(options: FleetPartsOptions): Promise<FleetParts> {
  const { engine, boots, clock, timers, log } = options
  const { store, ledger } = engine.storage
  const { fleet } = engine
  const memory = createFleetMemory()
  memory.load(await store.loadFleet())
  const newest = await store.listAudit({ limit: 1 })
  // Every write has an audit entry, so there were never more revisions than entries.
  const revisions = createRevisions(Math.max(newest.items[0]?.id ?? 0, highestRevision()))

  const architecturesOf = (stream: string): readonly Arch[] =>
    engine.loaded().config.streams.get(stream)?.architectures ?? []
  const hosts = createHostList({ inventory: () => fleet.inventory(), architecturesOf, now: clock.now })

  function highestRevision(): number {
    let highest = 0
    for (const records of Object.values(memory.records)) {
      for (const { revision } of records.values()) highest = Math.max(highest, revision)
    }
    return highest
  }

  function apply(changes: readonly FleetChange[]): void {
    fleet.apply(changes)
    hosts.note(changes)
  }

  const queue = createChangeQueue({
    store,
    memory,
    view: { apply, load: (state) => fleet.load(state) },
    onLoaded() {
      revisions.raiseTo(highestRevision())
      installs.reapply()
      learnMarks()
      refreshWanted()
    },
    onChanged: (audit) => options.onChanged?.(audit),
    timers,
    log,
  })

  const context: FleetContext = {
    queue,
    memory,
    store,
    clock,
    view: () => ({ catalog: engine.publisher.current(), inventory: fleet.inventory(), now: clock.now() }),
    streams: () => engine.loaded().config.streams,
    boots,
  }

  const installs = createInstallProgress({
    ...context,
    apply(changes) {
      memory.apply(changes)
      apply(changes)
    },
    timers,
    log,
  })

  /** Before a host gets another name: an install goes on to be found by its machine. */
  function learnMarks(): void {
    const plan = async () => ({
      changes: await allNewMarks(memory.installs, fleet.inventory),
      audit: [],
      answer: () => {},
      after: installs.reapply,
    })
    queue.change(plan).catch((error: unknown) => {
      log.warn({ error: String(error) }, 'what the machines of installs are recognised by is not written')
    })
  }
  fleet.onFiles(learnMarks)

  let cancelWanted: (() => void) | undefined
  /** Not for each change: with many pinned hosts it takes a while to look at all of them. */
  function refreshWanted(): void {
    if (!options.fetches) return
    cancelWanted ??= timers.after(wantedAfterMs, () => {
      cancelWanted = undefined
      void engine.lookForPins()
    })
  }

  const files = createPinFiles({
    ledger,
    pins: engine.pins,
    summaryOf: (record) => bootimageSummary(engine, record),
  })
  const pins = createPinList({ ...context, hosts, files, architecturesOf })
  const listReleases = createReleaseList({
    streamOf: (name) => engine.loaded().config.streams.get(name),
    client: () => engine.streams.client(),
    clock,
    timers,
  })
  const wasRead = (stream: string): boolean =>
    engine.publisher.current().streams.get(stream)?.health.lastSuccessAt !== undefined
  const show = createHostShow({ ...context, pins })
  const records = { ...context, hosts, revisions, loaded: engine.loaded, onRecords: refreshWanted }
  const hostOperations = createHostOperations({ ...records, show })

  learnMarks()
  const made: FleetOperations = {
    ...hostOperations,
    ...createRecordOperations(records),
    importRecords: createImportRecords(records),
    exportRecords: createExportRecords({ memory, loaded: engine.loaded }),
    adoptHost: createAdoptHost({ ...context, seen: options.seen, putHost: hostOperations.putHost }),
    ...createPinOperations({
      ...context,
      list: pins,
      architecturesOf,
      checkRelease: (release, uses) =>
        checkRelease(release, uses, {
          files,
          ledger,
          findRelease: engine.findRelease,
          listReleases,
          wasRead,
          timers,
        }),
      currentRelease(stream, arch) {
        const { current } = ledger.headOf(stream, arch)
        return current && ledger.bootimages.get(current)?.bootimage.release
      },
      want(wanted) {
        if (!options.fetches) return
        void engine.pins.want(wanted)
        refreshWanted()
      },
      onRemoved: refreshWanted,
    }),
    pinnable: createPinnable({ ...context, ledger, files, listReleases, architecturesOf }),
    ...createModeOperations(context),
    ...createInstallOperations({ ...context, hosts }),
    revokeBootTokens: createRevokeBootTokens(context),
    ...createHistoryOperations(context, options.seen),
    ...createTokenOperations({ ...context, randomBytes }),
    ...createBackupOperations({
      ...context,
      onChanged: (audit) => options.onChanged?.(audit),
      async onRestored() {
        await engine.reloadPins()
        await options.onRestored?.()
      },
    }),
  }
  const operations: FleetOperations = { ...made, ...checkFilters(made, context) }

  return {
    operations,
    hosts,
    installs,
    record: installs.record,
    trouble: queue.trouble,
    async stop() {
      cancelWanted?.()
      fleet.onFiles(() => {})
      await installs.stop()
      await queue.stop()
    },
  }
}
