import { type Leases, mostBootLeases } from '../boot/leases.ts'
import { type BootLease, longestBootAttemptMs } from '../core/boot-lease.ts'
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
 * A rack fits into one write, and a whole hall that powers on at once is written over the next seconds, so that an
 * admin's change does not wait behind it. It is also all that somebody who asks with made-up addresses can have us
 * write.
 */
const attemptsPerWrite = 1_000
/** Attempts that are over or too many leave the store in steps of this size, some 20 ms each. */
const attemptsPerTrim = 5_000
const trimEveryMs = 60 * 60 * 1_000

type LeaseStore = Pick<
  StateStore,
  'saveBootLeases' | 'listBootLeases' | 'trimBootLeases' | 'saveBootimageLeases' | 'listBootimageLeases'
>

export function createLeaseWriter(options: {
  readonly leases: Leases
  readonly store: LeaseStore
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** How many attempts the store keeps one by one at most; default `mostBootLeases`. */
  readonly maximum?: number
  /** Boots of the last run that may still go on. */
  readonly onRestored?: (attempts: readonly BootLease[]) => void
}): LeaseWriter {
  const { leases, store, clock, timers, log, maximum = mostBootLeases } = options
  let cancel: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let trimmedAt = Number.NEGATIVE_INFINITY
  let writtenSinceTrim = 0
  let mergedBefore = 0
  let isFailing = false
  let hasToldOfFlood = false

  /** How many were written. */
  async function write(): Promise<number> {
    const batch = leases.takeUnsaved(attemptsPerWrite)
    try {
      if (batch.length > 0) await store.saveBootLeases(batch)
      writtenSinceTrim += batch.length
      if (leases.merged > mergedBefore) {
        await store.saveBootimageLeases(leases.mergedLeases())
        mergedBefore = leases.merged
        tellOfFlood()
      }
      await trim()
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

  async function trim(): Promise<void> {
    const now = clock.now()
    if (writtenSinceTrim < attemptsPerTrim && Math.abs(now - trimmedAt) < trimEveryMs) return
    const { over, folded } = await store.trimBootLeases({
      lastSeenBefore: now - longestBootAttemptMs,
      keep: maximum,
      most: attemptsPerTrim,
    })
    if (folded > 0) tellOfFlood()
    // Where there is more to do, the next write goes on with it.
    if (over >= attemptsPerTrim || folded >= attemptsPerTrim) return
    trimmedAt = now
    writtenSinceTrim = 0
  }

  function tellOfFlood(): void {
    if (hasToldOfFlood) return
    hasToldOfFlood = true
    log.warn(
      { kept: maximum },
      'more boots within two hours than are kept one by one: the oldest are counted together and their bootimages stay; if there are not so many machines, somebody asks with made-up addresses',
    )
  }

  function schedule(): void {
    cancel = timers.after(writeEveryMs, () => {
      writing = write().then(schedule)
    })
  }

  return {
    async restore() {
      const now = clock.now()
      const lastSeenAfter = now - longestBootAttemptMs
      const attempts = await store.listBootLeases({ lastSeenAfter, limit: maximum })
      options.onRestored?.(attempts)
      leases.restore({ attempts, leases: await store.listBootimageLeases({ lastSeenAfter }) }, now)
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
