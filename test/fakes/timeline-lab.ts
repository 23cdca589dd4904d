import { createTimeline } from '../../src/boot/timeline/create-timeline.ts'
import type { Timeline } from '../../src/boot/timeline/timeline.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { SeenMachine } from '../../src/core/fleet.ts'
import type { Inventory } from '../../src/core/host.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import type { BootOperations } from '../../src/http/admin/boot-operations.ts'
import type { BootsSeen } from '../../src/runtime/fleet/fleet-context.ts'
import { createHostList } from '../../src/runtime/fleet/host-list.ts'
import { type BootViews, createBootViews } from '../../src/runtime/timeline/boot-views.ts'
import { type RunningTimeline, startTimeline } from '../../src/runtime/timeline/start-timeline.ts'
import type { StateStore } from '../../src/state/store.ts'
import { makeInventory } from './machines.ts'
import { createManualTime, type ManualTime } from './manual-time.ts'
import { createMemoryStore } from './memory-store.ts'
import { createRecordingLog } from './recording-log.ts'
import { sampleBootimage } from './stored-attempts.ts'
import { makeBootId, makeMac, t0 } from './stored-fleet.ts'

/** A real timeline over a store in memory, with time moved by hand, and all that is told of it. */
export interface TimelineLab {
  readonly store: StateStore
  readonly time: ManualTime
  readonly log: ReturnType<typeof createRecordingLog>
  readonly boots: BootOperations
  readonly seen: BootsSeen
  readonly running: RunningTimeline
  readonly timeline: Timeline
  /** What was published, as it is told now. */
  published(): readonly object[]
  strangers: SeenMachine[]
  inventory: Inventory
  note(...events: readonly BootEvent[]): void
  /** Time passes in which nothing is heard. */
  wait(ms: number): Promise<void>
  /** As after `kill -9`: the next run begins with what the store has. */
  crash(): Promise<void>
}

export async function openTimelineLab(
  options: {
    readonly store?: StateStore
    readonly inventory?: Inventory
    readonly keepMs?: number
    readonly captureOf?: Parameters<BootViews['operations']>[0]['captureOf']
  } = {},
): Promise<TimelineLab> {
  const store = options.store ?? createMemoryStore()
  const time = createManualTime(t0)
  const log = createRecordingLog()
  let inventory = options.inventory ?? makeInventory()
  let strangers: SeenMachine[] = []
  let made: (() => object)[] = []
  let runs = 0
  let running = await start()
  let views = view()

  function start(): Promise<RunningTimeline> {
    made = []
    runs += 1
    const run = runs
    let random = 0
    return startTimeline({
      create: (listeners) =>
        createTimeline({
          clock: time,
          random() {
            random = (random + 0.137) % 1
            return random
          },
          listeners,
        }),
      store,
      keepMs: () => options.keepMs ?? 24 * 60 * 60_000,
      publish: (_type, make) => void made.push(make),
      onOver: () => {},
      onDiagnosis: () => {},
      clock: time,
      // A run that was ended does nothing any more.
      timers: {
        after: (delayMs, what) =>
          time.after(delayMs, () => {
            if (run === runs) what()
          }),
      },
      log,
    })
  }

  function view() {
    const engine = {
      storage: { store },
      fleet: { inventory: () => inventory, conflictsOf: () => [] },
    } as unknown as Parameters<typeof createBootViews>[0]['engine']
    const { timeline, machines, memory } = running
    const made = createBootViews({ engine, timeline, machines, memory, clock: time })
    const hosts = createHostList({
      inventory: () => inventory,
      architecturesOf: () => ['x86_64'],
      now: time.now,
    })
    const boots = made.operations({
      hosts,
      strangers: () => strangers,
      captureOf: options.captureOf ?? (() => undefined),
      diagnose: async () => ({ healthy: true, checkedAt: new Date(t0).toISOString(), findings: [] }),
    })
    return { seen: made.seen, boots }
  }

  return {
    store,
    time,
    log,
    get inventory() {
      return inventory
    },
    set inventory(next) {
      inventory = next
    },
    get strangers() {
      return strangers
    },
    set strangers(next) {
      strangers = next
    },
    get boots() {
      return views.boots
    },
    get seen() {
      return views.seen
    },
    get running() {
      return running
    },
    get timeline() {
      return running.timeline
    },
    published: () => made.map((make) => make()),
    note(...events) {
      for (const event of events) running.note(event)
    },
    wait: (ms) => time.advance(ms),
    async crash() {
      running = await start()
      views = view()
    },
  }
}

/** The steps of one boot of one machine, as they are told. */
export function bootOf(
  number: number,
  {
    host,
    mac = makeMac(number),
    bootId = makeBootId(number),
  }: { host?: string; mac?: MacAddress; bootId?: BootId } = {},
) {
  const address = `192.0.2.${number}`
  const known = host === undefined ? {} : { host }
  return {
    mac,
    bootId,
    decided: (at: number, extra: Partial<Extract<BootEvent, { type: 'decided' }>> = {}): BootEvent => ({
      type: 'decided',
      at,
      bootId,
      kind: 'live',
      reason: 'follows-current',
      reasons: [{ code: 'follows-current', facts: { stream: 'fcos-stable', release: '44.20261101.3.0' } }],
      mac,
      address,
      arch: 'x86_64',
      firmware: 'uefi',
      bootimage: sampleBootimage,
      files: ['kernel', 'initramfs'],
      expects: ['report'],
      ...known,
      ...extra,
    }),
    sent: (role: string, at: number): BootEvent => ({
      type: 'artifact-sent',
      at,
      bootId,
      role,
      name: `${role}.img`,
      method: 'GET',
      status: 200,
      sentBytes: 1_000,
      totalBytes: 1_000,
      durationMs: 10,
      completed: true,
      address,
    }),
    progress: (at: number, reachedBytes: number): BootEvent => ({
      type: 'artifact-progress',
      at,
      bootId,
      role: 'initramfs',
      name: 'initramfs.img',
      reachedBytes,
      totalBytes: 1_000,
      address,
    }),
    reported: (at: number, status: 'booted' | 'failed' | 'installed' = 'booted'): BootEvent => ({
      type: 'reported',
      at,
      bootId,
      mac,
      status,
      osVersion: '44.20261101.3.0',
      isKnown: false,
      ...known,
    }),
  }
}
