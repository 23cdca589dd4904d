import type { StreamConfig } from '../../config/config.ts'
import type { BootLease } from '../../core/boot-lease.ts'
import type { Clock } from '../../core/clock.ts'
import type { BootView } from '../../core/decide-boot.ts'
import type { Host } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { FleetStore } from '../../state/store.ts'
import type { ChangeQueue } from './change-queue.ts'
import type { FleetMemory } from './fleet-memory.ts'

/** What boots tell of hosts, from memory. Times are ms since the epoch. */
export interface BootsSeen {
  /** Those that are not over for long, in any order. */
  attempts(): Iterable<BootLease>
  lastSeenAt(host: Host): number | undefined
  /** A machine that is about to be a host. */
  saw(mac: MacAddress, at: number): void
  /** What an admin should look at, in words. */
  flagsOf(host: string): readonly string[]
}

/** What operations about machines are made over; each one takes the parts that it needs. */
export interface FleetContext {
  readonly queue: ChangeQueue
  readonly memory: FleetMemory
  readonly store: FleetStore
  readonly clock: Clock
  /** What boots are decided with now. */
  readonly view: () => BootView
  readonly streams: () => ReadonlyMap<string, StreamConfig>
  readonly boots: BootsSeen
}
