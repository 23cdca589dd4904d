import type { Timeline } from '../../boot/timeline/timeline.ts'
import type { MachineCapture } from '../../capture/create-capture.ts'
import type { AttemptRecord, BootAttempt } from '../../core/boot-attempt.ts'
import { defaultLimits } from '../../core/boot-attempts/phase-limits.ts'
import { reduceAttempt } from '../../core/boot-attempts/reduce-attempt.ts'
import type { Clock } from '../../core/clock.ts'
import type { SeenMachine } from '../../core/fleet.ts'
import { type Ipv4, parseIpv4 } from '../../core/ipv4.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { Engine } from '../engine.ts'
import { createBootsSeen } from '../fleet/boots-seen.ts'
import { findHost } from '../fleet/find-target.ts'
import type { BootsSeen } from '../fleet/fleet-context.ts'
import type { HostList } from '../fleet/host-list.ts'
import { createCapturePackets } from './capture-packets.ts'
import { type BootMemory, createListBoots } from './list-boots.ts'
import { createListMachines } from './list-machines.ts'
import { createListPatterns } from './list-patterns.ts'
import type { MachineIndex } from './machine-index.ts'
import { createMachineSnapshots } from './machine-snapshot.ts'
import { createShowBoot } from './show-boot.ts'

/** Everything that is told of boots, over a timeline and what is kept. */
export interface BootViews {
  /** For what is told of hosts. */
  readonly seen: BootsSeen
  operations(parts: {
    readonly hosts: Pick<HostList, 'facts'>
    readonly strangers: () => Promise<readonly SeenMachine[]> | readonly SeenMachine[]
    /** `undefined`: no packets are kept. */
    readonly captureOf: (mac: MacAddress, bootedAt: Ipv4 | undefined) => MachineCapture | undefined
    readonly diagnose: BootOperations['diagnose']
  }): BootOperations
}

export function createBootViews(options: {
  readonly engine: Pick<Engine, 'storage' | 'fleet'>
  readonly timeline: Pick<Timeline, 'attempt' | 'of'>
  readonly machines: MachineIndex
  readonly memory: BootMemory
  readonly strangerSeenAt?: (mac: MacAddress) => number | undefined
  readonly clock: Clock
}): BootViews {
  const { engine, timeline, machines, memory, strangerSeenAt, clock } = options
  const { store } = engine.storage
  const inventory = () => engine.fleet.inventory()
  const now = () => clock.now()
  const reduce = (record: AttemptRecord): BootAttempt =>
    reduceAttempt(record, { now: now(), limits: defaultLimits })
  const attempt = (id: string) => timeline.attempt(id)

  /** Where the site's own DHCP server gives the addresses, boots alone tell whose one is. */
  function bootedAt(mac: MacAddress): Ipv4 | undefined {
    const { address } = timeline.of({ macs: [mac] }).find((boot) => boot.address !== undefined) ?? {}
    return address === undefined ? undefined : parseIpv4(address)
  }

  const listBoots = createListBoots({ memory, store, reduce, now })
  const seen = createBootsSeen({
    lastBootAt: (host) => machines.ofHost(host)?.seenAt,
    troubleOf(host) {
      const sight = machines.ofHost(host)
      if (sight?.pattern === undefined) return undefined
      const diagnosis = attempt(sight.attempt)?.diagnosis
      return diagnosis && `${diagnosis.text} ${diagnosis.remedy}`
    },
    listBoots,
    store,
    ...(strangerSeenAt === undefined ? {} : { strangerSeenAt }),
    conflictsOf: (host) => engine.fleet.conflictsOf(host),
    inventory,
  })

  return {
    seen,
    operations({ hosts, strangers, captureOf, diagnose }) {
      const snapshots = createMachineSnapshots({ index: machines, hosts, inventory, strangers })
      return {
        async listBoots(query) {
          const page = await listBoots(query)
          // One that is empty because nobody has that name says so, and which name is near it.
          if (page.total === 0 && query.host !== undefined) findHost(query.host, inventory())
          return page
        },
        showBoot: createShowBoot({ timeline, store, reduce, inventory, now }),
        listMachines: createListMachines({
          snapshots,
          attempt,
          inventory,
          lastSeenAt: seen.lastSeenAt,
          flagsOf: (host) => engine.fleet.conflictsOf(host),
          now,
        }),
        listPatterns: createListPatterns({ snapshots, diagnosisOf: (id) => attempt(id)?.diagnosis }),
        capture: createCapturePackets((mac) => captureOf(mac, bootedAt(mac))),
        diagnose,
      }
    },
  }
}
