import type { BootId } from '../../core/boot-event.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { FleetChange, InstallRecord, NodeReport } from '../../core/fleet.ts'
import { installReported, installServed } from '../../core/install.ts'
import { installRecordById, withMarks } from '../../core/install-of-machine.ts'
import type { Log } from '../../core/log.ts'
import { macMark } from '../../core/machine-marks.ts'
import type { FleetPlan } from './change-queue.ts'
import type { FleetContext } from './fleet-context.ts'
import { installChange } from './install-change.ts'

/** What machines do of an install that is armed for them. */
export interface InstallProgress {
  /**
   * A host was answered with an install script: it is counted at once, in memory, and written a moment later. Never
   * throws and never waits.
   */
  served(host: string, bootId: BootId): void
  /**
   * A node's report, its install and its audit entry in one write; `known`: that boot said so before.
   * @param issuedAt when the token of the report was issued, after its boot began
   * @throws ServiceError STATE_UNAVAILABLE when it could not be kept
   */
  record(report: NodeReport, issuedAt: number): Promise<'recorded' | 'known'>
  /** Installs were read or written anew: what was counted meanwhile is counted again. */
  reapply(): void
  stop(): Promise<void>
}

/** What a crash may lose of the counting; a rack that is installed is written together. */
const writeAfterMs = 100
/** While the store does not take it. */
const retryAfterMs = 2_000
/** Boots whose install script is remembered, for reports that come after hours. */
const mostBoots = 50_000

export function createInstallProgress(
  context: Pick<FleetContext, 'queue' | 'memory' | 'store' | 'view' | 'clock'> & {
    /** Makes the next packet see it, before it is written. */
    readonly apply: (changes: readonly FleetChange[]) => void
    readonly clock: Clock
    readonly timers: Timers
    readonly log: Log
  },
): InstallProgress {
  const { queue, memory, store, view, clock, timers, log } = context
  const startedAt = clock.now()
  /** Number of the arming that a boot got its script of. */
  const generations = new Map<BootId, { readonly host: string; readonly generation: number }>()
  /** Hosts whose newest count is not written, with that record. */
  const unwritten = new Map<string, InstallRecord>()
  let cancel: (() => void) | undefined
  let isFailing = false

  /** Of an arming by a file nothing is written before its first script. */
  function armedRecord(id: string): InstallRecord | undefined {
    const { inventory } = view()
    const host = inventory.hostsById.get(id)
    if (host === undefined) return undefined
    const { install } = effectiveSettings({ inventory, host, firmware: 'unknown', now: clock.now() })
    return install.kind === 'armed' ? install.record : undefined
  }

  function remember(bootId: BootId, host: string, generation: number): void {
    if (generations.size >= mostBoots) {
      const [oldest] = generations.keys()
      if (oldest !== undefined) generations.delete(oldest)
    }
    generations.set(bootId, { host, generation })
  }

  function schedule(delayMs = writeAfterMs): void {
    cancel ??= timers.after(delayMs, () => {
      cancel = undefined
      void write()
    })
  }

  async function write(): Promise<void> {
    try {
      await queue.change(planCounts)
      isFailing = false
    } catch (error) {
      // Once, not every second: boots go on from memory meanwhile.
      if (!isFailing)
        log.error({ error: String(error) }, 'served install scripts are counted, but not written')
      isFailing = true
      schedule(retryAfterMs)
    }
  }

  function planCounts(): FleetPlan<void> {
    const written = new Map(unwritten)
    const changes = [...written.keys()].flatMap((host): readonly FleetChange[] => {
      const install = memory.installs.get(host)
      return install === undefined ? [] : [{ put: 'install', install }]
    })
    return {
      changes,
      audit: [],
      answer: () => {},
      after() {
        for (const [host, record] of written) if (unwritten.get(host) === record) unwritten.delete(host)
        reapply()
      },
    }
  }

  async function planReport(report: NodeReport, issuedAt: number): Promise<FleetPlan<'recorded' | 'known'>> {
    const { bootId, status, at, host } = report
    const before = await store.listReports({ bootId, limit: 10 })
    if (before.items.some((known) => known.status === status)) {
      return { changes: [], audit: [], answer: () => 'known' }
    }
    const install =
      status === 'booted' || host === undefined ? undefined : changedInstall(host, report, status, issuedAt)
    const message = report.message === undefined ? '' : `: ${report.message}`
    return {
      changes: [
        { put: 'report', report },
        ...(install === undefined ? [] : [withReporter(installChange(install, view().inventory), report)]),
      ],
      audit:
        install === undefined
          ? []
          : [
              {
                at,
                by: `boot ${bootId}`,
                via: 'report',
                action: status === 'installed' ? 'install.done' : 'install.failed',
                target: `host/${install.host}`,
                summary:
                  status === 'installed'
                    ? `install ${install.generation} of host ${install.host} is done; it boots from its disk from now on`
                    : `install ${install.generation} of host ${install.host} failed once and stays armed${message}`,
              },
            ],
      answer: () => 'recorded',
    }
  }

  /**
   * Only a boot that got a script of this very arming says anything of it. One of an earlier run of the service is of it
   * when its token was issued since: nothing but install scripts is handed out to a host as long as it is armed.
   */
  function changedInstall(
    host: string,
    { bootId, at, message }: NodeReport,
    status: 'installed' | 'failed',
    issuedAt: number,
  ): InstallRecord | undefined {
    const kept = installRecordById(host, view().inventory, clock.now())
    const armed = armedRecord(host)
    // What is armed speaks for what the files ask for by now, which may be more than when it was written: the evidence
    // for it is evidence for that as well.
    const record = kept === undefined || kept.generation === armed?.generation ? (armed ?? kept) : kept
    if (record === undefined) return undefined
    const served = generations.get(bootId)
    const isOfIt =
      served === undefined
        ? issuedAt < startedAt && issuedAt >= (kept?.armedAt ?? 0)
        : served.host === host && served.generation === record.generation
    if (!isOfIt) return undefined
    const next = installReported(record, {
      status,
      bootId,
      at,
      ...(message === undefined ? {} : { message }),
    })
    return next === record ? undefined : next
  }

  /** What is counted while an older record is written stays counted. */
  function reapply(): void {
    for (const [host, counted] of unwritten) {
      const record = memory.installs.get(host)
      const isOther = record !== undefined && record.generation !== counted.generation
      const isCounted = record?.state !== 'armed' || record.serves >= counted.serves
      if (isOther || (record !== undefined && isCounted)) continue
      const marks = record?.marks ?? counted.marks
      const install = { ...counted, ...(marks === undefined ? {} : { marks }) }
      unwritten.set(host, install)
      context.apply([{ put: 'install', install }])
    }
  }

  return {
    served(host, bootId) {
      const record = armedRecord(host)
      if (record === undefined) return
      const counted = installServed(record)
      remember(bootId, host, counted.generation)
      unwritten.set(host, counted)
      context.apply([installChange(counted, view().inventory)])
      schedule()
    },
    record: (report, issuedAt) => queue.change(() => planReport(report, issuedAt)),
    reapply,
    async stop() {
      cancel?.()
      if (unwritten.size > 0) await write()
      cancel?.()
    },
  }
}

/** Whose disk it was is known best from the machine that tells. */
function withReporter(
  change: ReturnType<typeof installChange>,
  { mac }: Pick<NodeReport, 'mac'>,
): FleetChange {
  const { install } = change
  const isTold = mac !== undefined && install.state === 'installed'
  return isTold
    ? { ...change, install: withMarks(install, [...(install.marks ?? []), macMark(mac)]) }
    : change
}
