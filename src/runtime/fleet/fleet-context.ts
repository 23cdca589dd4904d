import type { StreamConfig } from '../../config/config.ts'
import type { Clock } from '../../core/clock.ts'
import type { BootView } from '../../core/decide-boot.ts'
import type { Host } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import type { FleetStore } from '../../state/store.ts'
import type { ChangeQueue } from './change-queue.ts'
import type { FleetMemory } from './fleet-memory.ts'

/** What boots tell of hosts. Times are ms since the epoch. */
export interface BootsSeen {
  /** The last ones of a host, newest first. @throws ServiceError STATE_UNAVAILABLE */
  lastBoots(host: string): Promise<readonly BootSummary[]>
  /** Also a host that has gone. @throws ServiceError STATE_UNAVAILABLE */
  hasBooted(host: string): Promise<boolean>
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
