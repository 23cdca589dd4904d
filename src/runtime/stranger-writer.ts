import type { Strangers } from '../boot/strangers.ts'
import type { Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import type { FleetStore } from '../state/store.ts'

/** Takes machines that nobody knows from memory to the store and back. */
export interface StrangerWriter {
  restore(): Promise<void>
  start(): void
  /** Writes what is not written yet. */
  stop(): Promise<void>
}

/** What a crash may lose of them. */
const writeEveryMs = 2_000
/** All that somebody who asks with made-up addresses can have us write. */
const machinesPerWrite = 500
const mostRestored = 10_000

export function createStrangerWriter(options: {
  readonly strangers: Strangers
  readonly store: Pick<FleetStore, 'saveSeenMachines' | 'listSeenMachines'>
  /** A record names it by now. */
  readonly isKnown: (mac: MacAddress) => boolean
  readonly timers: Timers
  readonly log: Log
}): StrangerWriter {
  const { strangers, store, isKnown, timers, log } = options
  let cancel: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let isFailing = false

  /** How many were written. */
  async function write(): Promise<number> {
    const taken = strangers.takeUnsaved(machinesPerWrite)
    const batch = taken.filter(({ mac }) => !isKnown(mac))
    if (batch.length < taken.length) strangers.forget(taken.map(({ mac }) => mac).filter(isKnown))
    if (batch.length === 0) return 0
    try {
      await store.saveSeenMachines(batch)
      isFailing = false
      return batch.length
    } catch (error) {
      strangers.returnUnsaved(batch)
      if (!isFailing) log.warn({ error: String(error) }, 'unknown machines that were seen are not written')
      isFailing = true
      return 0
    }
  }

  function schedule(): void {
    cancel = timers.after(writeEveryMs, () => {
      writing = write().then(schedule)
    })
  }

  return {
    async restore() {
      strangers.restore(await store.listSeenMachines({ limit: mostRestored }))
    },
    start: schedule,
    async stop() {
      cancel?.()
      await writing
      cancel?.()
      while ((await write()) > 0);
    },
  }
}
