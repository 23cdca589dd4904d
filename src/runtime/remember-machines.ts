import type { AddressGuard } from '../boot/address-guard.ts'
import { createStrangers, type Strangers, strangerIn } from '../boot/strangers.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import type { Engine } from './engine.ts'
import type { SeenList } from './fleet/adopt-host.ts'
import { createLeaseWriter } from './lease-writer.ts'
import { createStrangerWriter } from './stranger-writer.ts'

/** Machines that no record matches, from the first packet on. */
export interface StrangerMemory {
  readonly strangers: Strangers
  note(event: BootEvent): void
}

export function createStrangerMemory(): StrangerMemory {
  const strangers = createStrangers()
  return {
    strangers,
    note(event) {
      const stranger = strangerIn(event)
      if (stranger !== undefined) strangers.saw(stranger)
    },
  }
}

/**
 * Takes up what the last run knew of machines (boots that hold files, who asked and is unknown), and writes on from
 * there.
 * @throws ServiceError STATE_UNAVAILABLE
 */
export async function rememberMachines(options: {
  readonly engine: Pick<Engine, 'leases' | 'newestBoots' | 'fleet' | 'storage'>
  readonly guard: AddressGuard
  readonly strangers: Strangers
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}): Promise<{
  /** Machines that asked and that no record matches now. */
  readonly seen: SeenList
  stop(): Promise<void>
}> {
  const { engine, guard, strangers, clock, timers, log } = options
  const { store } = engine.storage
  const isKnown = (mac: MacAddress) => engine.fleet.inventory().hostsByMac.has(mac)
  const leaseWriter = createLeaseWriter({
    leases: engine.leases,
    store,
    clock,
    timers,
    log,
    onRestored(attempts) {
      engine.newestBoots.restore(attempts)
      guard.restore(attempts)
    },
  })
  const strangerWriter = createStrangerWriter({ strangers, store, isKnown, timers, log })
  await leaseWriter.restore()
  await strangerWriter.restore()
  leaseWriter.start()
  strangerWriter.start()
  return {
    seen: {
      list: () => strangers.list().filter(({ mac }) => !isKnown(mac)),
      forget(macs) {
        strangers.forget(macs)
        return store.removeSeenMachines(macs)
      },
    },
    async stop() {
      await strangerWriter.stop()
      await leaseWriter.stop()
    },
  }
}
