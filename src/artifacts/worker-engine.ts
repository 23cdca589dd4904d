import { Worker } from 'node:worker_threads'
import { ServiceError } from '../core/errors.ts'
import { fromPlainError } from '../core/plain-error.ts'
import type { EngineResult, FetchEngine } from './fetch-engine.ts'
import type { FetchEvent } from './fetcher.ts'
import type { WorkerOptions, WorkerReply, WorkerRequest } from './worker-messages.ts'

interface Work {
  readonly onEvent?: (event: FetchEvent) => void
  resolve(reply: Extract<WorkerReply, { type: 'fetched' | 'hashed' }>): void
  reject(error: Error): void
}

/**
 * Chunks from the network are garbage as soon as they are copied into a block. A small nursery has them collected
 * while there are few: 16 MiB of growth while 1 GiB is fetched instead of 37, at the same speed.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 2 }

/** How long a worker may take to end by itself. */
const closingMs = 5_000

/**
 * The compiled entry. Node 20 cannot start a thread from TypeScript, so that the sources use the build's.
 */
const defaultEntry = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/artifacts/fetch-worker.js', import.meta.url)
  : new URL('./fetch-worker.js', import.meta.url)

/**
 * The engine in a thread of its own, started with the first piece of work. If the thread dies, what it was doing fails
 * and the next piece of work starts a new one.
 */
export function createWorkerEngine(options: WorkerOptions, entry: URL = defaultEntry): FetchEngine {
  const works = new Map<number, Work>()
  let lastId = 0
  let worker: Worker | undefined
  let isClosed = false

  function start(): Worker {
    const started = new Worker(entry, { workerData: options, name: 'fetch', resourceLimits })
    started.on('message', (reply: WorkerReply) => settle(reply))
    started.on('error', (error) => fail(started, error))
    started.on('exit', (code) => fail(started, new Error(`it ended with code ${code}`)))
    return started
  }

  function settle(reply: WorkerReply): void {
    const work = works.get(reply.id)
    if (reply.type === 'event') {
      work?.onEvent?.(reply.event)
      return
    }
    works.delete(reply.id)
    if (reply.type === 'failed') work?.reject(fromPlainError(reply.error))
    else work?.resolve(reply)
  }

  function fail(failed: Worker, cause: unknown): void {
    if (failed !== worker) return
    worker = undefined
    const why = cause instanceof Error ? cause.message : String(cause)
    for (const [id, work] of works) {
      works.delete(id)
      work.reject(new ServiceError('INTERNAL', `the fetching thread stopped: ${why}`, {}, cause))
    }
  }

  function send(request: WorkerRequest): void {
    worker ??= start()
    worker.postMessage(request)
  }

  function run(
    request: (id: number) => WorkerRequest,
    signal: AbortSignal,
    onEvent?: (event: FetchEvent) => void,
  ): Promise<Extract<WorkerReply, { type: 'fetched' | 'hashed' }>> {
    signal.throwIfAborted()
    if (isClosed) throw new ServiceError('INTERNAL', 'the fetching thread has been stopped')
    lastId += 1
    const id = lastId
    return new Promise((resolve, reject) => {
      const abort = () => worker?.postMessage({ type: 'abort', id } satisfies WorkerRequest)
      const finish = <T>(then: (value: T) => void) => {
        return (value: T) => {
          signal.removeEventListener('abort', abort)
          then(value)
        }
      }
      // The thread answers an abort like any failure, when it has let go of the file; the reason stays on this side.
      const failed = (error: Error) => reject(signal.aborted ? signal.reason : error)
      works.set(id, { ...(onEvent ? { onEvent } : {}), resolve: finish(resolve), reject: finish(failed) })
      signal.addEventListener('abort', abort, { once: true })
      send(request(id))
    })
  }

  return {
    async fetch(request, { signal, onEvent }): Promise<EngineResult> {
      const reply = await run((id) => ({ type: 'fetch', id, request }), signal, onEvent)
      if (reply.type !== 'fetched')
        throw new ServiceError('INTERNAL', 'the fetching thread mixed up its answers')
      return reply.result
    },
    async hash(sha256, pace, signal) {
      const reply = await run((id) => ({ type: 'hash', id, sha256, ...pace }), signal)
      if (reply.type !== 'hashed')
        throw new ServiceError('INTERNAL', 'the fetching thread mixed up its answers')
      return reply.found
    },
    async close() {
      isClosed = true
      const closing = worker
      if (closing === undefined) return
      const ended = new Promise<void>((resolve) => closing.once('exit', () => resolve()))
      closing.postMessage({ type: 'close' } satisfies WorkerRequest)
      const deadline = setTimeout(() => void closing.terminate(), closingMs)
      await ended
      clearTimeout(deadline)
    },
  }
}
