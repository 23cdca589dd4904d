import { setMaxListeners } from 'node:events'
import type { Sha256 } from '../core/digest.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import {
  createFetchEngine,
  type EngineResult,
  type FetchEngine,
  type FetchEngineEdges,
  type FetchEngineOptions,
} from './fetch-engine.ts'
import type { FetchEvent, FetchedArtifact, Fetcher, FetchRequest } from './fetcher.ts'
import type { HashedBlob } from './hash-blob.ts'
import { createSlots } from './slots.ts'
import { createWorkerEngine } from './worker-engine.ts'

export interface FetcherOptions extends FetchEngineOptions {
  /** Progress for people; at most four events a second and digest. */
  readonly onEvent?: (event: FetchEvent) => void
  /** Artifacts on their way at a time; default 2. */
  readonly maxConcurrent?: number
}

/** A fetcher that can also tell what a stored blob really contains, for the scrubber. */
export interface ArtifactFetcher extends Fetcher {
  /** @throws ServiceError STORAGE_FAILED when the file cannot be read */
  hash(
    sha256: Sha256,
    options?: { readonly bytesPerSecond?: number; readonly signal?: AbortSignal },
  ): Promise<HashedBlob | undefined>
}

/** Fetches in a worker thread. */
export function createFetcher(options: FetcherOptions): ArtifactFetcher {
  const { dataDirectory, upstream, trustedKeys, reserveBytes, blockBytes } = options
  const data = { dataDirectory, upstream, trustedKeys, reserveBytes, blockBytes }
  return createFetcherOver({
    ...options,
    engine: createWorkerEngine(structuredClone(data) as FetchEngineOptions),
  })
}

/** Fetches in the calling thread: for tests and for tools that do nothing else. */
export function createInProcessFetcher(options: FetcherOptions & FetchEngineEdges): ArtifactFetcher {
  return createFetcherOver({ ...options, engine: createFetchEngine(options) })
}

interface Flight {
  readonly request: FetchRequest
  readonly controller: AbortController
  readonly result: Promise<FetchedArtifact>
  callers: number
}

/**
 * Single flight: callers that want the same of one digest share one download, which ends early only when all of them
 * have given up. Callers that want something else of it (another signature policy) wait, and then find it there.
 */
export function createFetcherOver(options: {
  readonly engine: FetchEngine
  readonly onEvent?: (event: FetchEvent) => void
  readonly maxConcurrent?: number
}): ArtifactFetcher {
  const { engine, onEvent = () => {}, maxConcurrent = 2 } = options
  const slots = createSlots(maxConcurrent)
  const flights = new Map<Sha256, Flight>()
  const hashing = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  // One listener for each caller that waits; ten is no sign of a leak here.
  setMaxListeners(0, stopping.signal)

  async function fly(request: FetchRequest, signal: AbortSignal): Promise<FetchedArtifact> {
    const { sha256 } = request.artifact
    try {
      const result = await slots.run(() => engine.fetch(request, { signal, onEvent }), signal)
      onEvent({ type: 'finished', sha256, outcome: result.outcome, sizeBytes: result.blob.sizeBytes })
      return withoutOutcome(result)
    } catch (error) {
      const code = isServiceError(error) ? error.code : 'INTERNAL'
      onEvent(
        signal.aborted
          ? { type: 'finished', sha256, outcome: 'aborted' }
          : { type: 'finished', sha256, outcome: 'failed', code },
      )
      throw error
    } finally {
      flights.delete(sha256)
    }
  }

  function takeOff(request: FetchRequest): Flight {
    const controller = new AbortController()
    const result = fly(request, controller.signal)
    // A flight that everybody left still ends somewhere.
    result.catch(() => {})
    const flight = { request, controller, result, callers: 0 }
    flights.set(request.artifact.sha256, flight)
    return flight
  }

  async function ride(flight: Flight, signal: AbortSignal): Promise<FetchedArtifact> {
    flight.callers += 1
    try {
      return await orAbort(flight.result, signal)
    } finally {
      flight.callers -= 1
      if (flight.callers === 0) flight.controller.abort(signal.reason)
    }
  }

  return {
    async fetch(request, callerSignal) {
      const signal = callerSignal ? AbortSignal.any([callerSignal, stopping.signal]) : stopping.signal
      for (;;) {
        signal.throwIfAborted()
        const running = flights.get(request.artifact.sha256)
        if (!running) return ride(takeOff(request), signal)
        if (!running.controller.signal.aborted && wantsTheSame(running.request, request))
          return ride(running, signal)
        await orAbort(
          running.result.catch(() => {}),
          signal,
        )
      }
    },
    async hash(sha256, { bytesPerSecond, signal: callerSignal } = {}) {
      const signal = callerSignal ? AbortSignal.any([callerSignal, stopping.signal]) : stopping.signal
      signal.throwIfAborted()
      const pace = bytesPerSecond === undefined ? {} : { bytesPerSecond }
      const work = engine.hash(sha256, pace, signal)
      hashing.add(work)
      try {
        return await work
      } finally {
        hashing.delete(work)
      }
    },
    async stop() {
      stopping.abort(new ServiceError('INTERNAL', 'the fetcher has been stopped'))
      const flying = [...flights.values()]
      for (const { controller } of flying) controller.abort(stopping.signal.reason)
      await Promise.allSettled([...flying.map(({ result }) => result), ...hashing])
      await engine.close()
    },
  }
}

function wantsTheSame(left: FetchRequest, right: FetchRequest): boolean {
  return (
    left.signatures === right.signatures &&
    (left.gunzip ?? false) === (right.gunzip ?? false) &&
    left.trustedKeys?.join() === right.trustedKeys?.join()
  )
}

function withoutOutcome({ outcome: _, ...fetched }: EngineResult): FetchedArtifact {
  return fetched
}

/** Stops waiting when the signal says so; what was waited for goes on. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
