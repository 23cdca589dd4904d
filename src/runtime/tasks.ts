import { scrub } from '../artifacts/scrub.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { wantedPins } from '../rollout/wanted-pins.ts'
import type { Engine } from './engine.ts'
import { trimHistory } from './trim-history.ts'
import { warnOfKeys } from './warn-of-keys.ts'

const minuteMs = 60_000
const garbageEveryMs = 60 * minuteMs
const pinsEveryMs = 10 * minuteMs
const keysEveryMs = 24 * 60 * minuteMs
const scrubEveryMs = 24 * 60 * minuteMs
const historyEveryMs = 24 * 60 * minuteMs
/** Soon after a start: what happened to the files while no service ran is not known. */
const firstScrubAfterMs = 5 * minuteMs
/** A service that is restarted every day trims as well, when the bustle of its start is over. */
const firstHistoryAfterMs = 10 * minuteMs
/** A disk hardly notices it; 10 GB take a quarter of an hour. */
const scrubBytesPerSecond = 12 * 2 ** 20

export interface Tasks {
  stop(): Promise<void>
}

/** What happens by itself every now and then: garbage, ended pins, re-hashing of what lies in the cache. */
export function startTasks(options: {
  readonly engine: Engine
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** The scrub found a damaged file. */
  readonly onBadBlob: () => void
}): Tasks {
  const { engine, clock, timers, log, onBadBlob } = options
  const stopping = new AbortController()
  const cancels = new Set<() => void>()
  const running = new Set<Promise<void>>()

  function every(
    intervalMs: number,
    name: string,
    task: () => Promise<unknown>,
    firstAfterMs = intervalMs,
  ): void {
    const cancel = timers.after(firstAfterMs, () => {
      cancels.delete(cancel)
      const run = task()
        .catch((error: unknown) => {
          if (!stopping.signal.aborted)
            log.warn({ task: name, error: String(error) }, 'background task failed')
        })
        .then(() => {
          running.delete(run)
          if (!stopping.signal.aborted) every(intervalMs, name, task)
        })
      running.add(run)
    })
    cancels.add(cancel)
  }

  every(garbageEveryMs, 'gc', () => engine.garbage.run())
  every(pinsEveryMs, 'pins', async () => {
    const { config } = engine.loaded()
    const architecturesOf = (name: string) => config.streams.get(name)?.architectures
    await engine.pins.setWanted(wantedPins(engine.fleet.inventory(), architecturesOf, clock.now()))
  })
  every(keysEveryMs, 'keys', () => warnOfKeys(engine.loaded().config.streams.values(), clock.now(), log))
  every(scrubEveryMs, 'scrub', scrubAll, firstScrubAfterMs)
  every(
    historyEveryMs,
    'history',
    () =>
      trimHistory({
        store: engine.storage.store,
        retention: engine.loaded().config.retention,
        now: clock.now(),
        signal: stopping.signal,
      }),
    firstHistoryAfterMs,
  )

  function scrubAll(): Promise<unknown> {
    return scrub({
      store: engine.storage.blobs,
      fetcher: engine.fetcher,
      bytesPerSecond: scrubBytesPerSecond,
      onGood: (blob) => engine.storage.blobIndex.add(blob),
      onBad({ sha256, reason }) {
        log.error({ sha256, reason }, 'verified file was damaged, it is fetched again')
        onBadBlob()
        return engine.recheck(sha256)
      },
      signal: stopping.signal,
    })
  }

  return {
    async stop() {
      stopping.abort()
      for (const cancel of cancels) cancel()
      await Promise.allSettled(running)
    },
  }
}
