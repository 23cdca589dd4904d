import type { Timeline } from '../../boot/timeline/timeline.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { StateStore } from '../../state/store.ts'

/** Takes boots and their events from memory to the store, and what is too old out of it. */
export interface AttemptWriter {
  start(): void
  /** Writes what is not written yet. */
  stop(): Promise<void>
}

/** What a crash may lose; what machines reported has a table of its own. */
const writeEveryMs = 1_000
/** A hall that powers on at once is written over the next seconds; an admin's change does not wait behind it. */
const attemptsPerWrite = 1_000
/** Old ones leave in steps of this size, so that nobody waits long. */
const attemptsPerTrim = 1_000
const trimEveryMs = 60 * 60 * 1_000
/** Of hosts; beyond that the oldest leave before their time: some 500 MB. */
export const mostKeptAttempts = 100_000
/** Beside them, this share as many of machines that no record matches, which anybody can make up. */
const shareOfStrangers = 0.2

export function createAttemptWriter(options: {
  readonly timeline: Pick<Timeline, 'takeUnsaved' | 'returnUnsaved' | 'confirmSaved'>
  readonly store: Pick<StateStore, 'saveAttempts' | 'trimAttempts'>
  /** How long they are kept, ms. */
  readonly keepMs: () => number
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** How many are kept at most; default `mostKeptAttempts`. */
  readonly maximum?: number
}): AttemptWriter {
  const { timeline, store, keepMs, clock, timers, log, maximum = mostKeptAttempts } = options
  let cancel: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let trimmedAt = Number.NEGATIVE_INFINITY
  let writtenSinceTrim = 0
  let isFailing = false

  /** How many were written. */
  async function write(): Promise<number> {
    const batch = timeline.takeUnsaved(attemptsPerWrite)
    try {
      if (batch.length > 0) await store.saveAttempts(batch)
    } catch (error) {
      timeline.returnUnsaved(batch)
      tell(error, batch.length)
      return 0
    }
    timeline.confirmSaved(batch)
    writtenSinceTrim += batch.length
    try {
      await trim()
      isFailing = false
    } catch (error) {
      tell(error, 0)
    }
    return batch.length
  }

  /** Once, not every second: boots go on from memory meanwhile. */
  function tell(error: unknown, waiting: number): void {
    if (!isFailing) log.error({ error: String(error), waiting }, 'boots and their steps not written')
    isFailing = true
  }

  async function trim(): Promise<void> {
    const now = clock.now()
    // A clock that was set back by years is no reason to keep what is old for as long.
    if (writtenSinceTrim < attemptsPerTrim && Math.abs(now - trimmedAt) < trimEveryMs) return
    const { removed } = await store.trimAttempts({
      startedBefore: now - keepMs(),
      keep: maximum,
      keepStrangers: Math.ceil(maximum * shareOfStrangers),
      most: attemptsPerTrim,
    })
    // Where there is more to do, the next write goes on with it.
    if (removed >= attemptsPerTrim) return
    trimmedAt = now
    writtenSinceTrim = 0
  }

  function schedule(): void {
    cancel = timers.after(writeEveryMs, () => {
      writing = write().then(schedule)
    })
  }

  return {
    start: schedule,
    async stop() {
      cancel?.()
      await writing
      cancel?.()
      while ((await write()) > 0);
    },
  }
}
