import type { Leases } from '../boot/leases.ts'
import { longestBootAttemptMs } from '../core/boot-attempt.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { StateStore } from '../state/store.ts'

/** Takes boot leases from memory to the store and back. */
export interface LeaseWriter {
  /** What the last run of the service knew of boots that may still go on. */
  restore(): Promise<void>
  start(): void
  /** Writes what is not written yet. */
  stop(): Promise<void>
}

/** What a crash may lose; garbage collection waits after a start because of it. */
const writeEveryMs = 1_000
/**
 * The embedded store writes in the thread that serves, some 7 µs an attempt: a rack fits into one write, and a whole
 * hall that powers on at once is written over the next seconds instead of holding up every DISCOVER and script.
 */
const attemptsPerWrite = 1_000
const forgetEveryMs = 60 * 60 * 1_000

type LeaseStore = Pick<StateStore, 'saveBootAttempts' | 'listBootAttempts' | 'removeBootAttempts'>

export function createLeaseWriter(options: {
  readonly leases: Leases
  readonly store: LeaseStore
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}): LeaseWriter {
  const { leases, store, clock, timers, log } = options
  let cancel: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let forgottenAt = 0
  let isFailing = false

  /** How many were written. */
  async function write(): Promise<number> {
    const batch = leases.takeUnsaved(attemptsPerWrite)
    const now = clock.now()
    try {
      if (batch.length > 0) await store.saveBootAttempts(batch)
      if (now - forgottenAt > forgetEveryMs) {
        await store.removeBootAttempts({ lastSeenBefore: now - longestBootAttemptMs })
        forgottenAt = now
      }
      isFailing = false
      return batch.length
    } catch (error) {
      leases.returnUnsaved(batch)
      // Once, not every second: boots go on from memory meanwhile.
      if (!isFailing) log.error({ error: String(error), waiting: batch.length }, 'boot leases not written')
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
      const now = clock.now()
      leases.restore(await store.listBootAttempts({ lastSeenAfter: now - longestBootAttemptMs }), now)
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
