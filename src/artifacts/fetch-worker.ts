import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../core/plain-error.ts'
import { createFetchEngine } from './fetch-engine.ts'
import type { WorkerOptions, WorkerReply, WorkerRequest } from './worker-messages.ts'

/**
 * Entry of the thread that fetches, hashes and unpacks, so that the thread which serves never waits for it
 * (facts/performance.md §5: the event loop's p99 is 2.6 ms instead of 5 to 9).
 */
function serveRequests(port: NonNullable<typeof parentPort>): void {
  const engine = createFetchEngine(workerData as WorkerOptions)
  const running = new Map<number, AbortController>()
  const reply = (message: WorkerReply) => port.postMessage(message)

  async function work(id: number, run: (signal: AbortSignal) => Promise<WorkerReply>): Promise<void> {
    const controller = new AbortController()
    running.set(id, controller)
    try {
      reply(await run(controller.signal))
    } catch (error) {
      reply({ type: 'failed', id, error: toPlainError(error) })
    } finally {
      running.delete(id)
    }
  }

  port.on('message', (message: WorkerRequest) => {
    if (message.type === 'fetch') {
      const { id, request } = message
      void work(id, async (signal) => {
        const onEvent = (event: Extract<WorkerReply, { type: 'event' }>['event']) =>
          reply({ type: 'event', id, event })
        return { type: 'fetched', id, result: await engine.fetch(request, { signal, onEvent }) }
      })
    } else if (message.type === 'hash') {
      const { id, sha256, bytesPerSecond } = message
      void work(id, async (signal) => {
        const pace = bytesPerSecond === undefined ? {} : { bytesPerSecond }
        const found = await engine.hash(sha256, pace, signal)
        return { type: 'hashed', id, ...(found === undefined ? {} : { found }) }
      })
    } else if (message.type === 'abort') {
      running.get(message.id)?.abort()
    } else {
      void engine.close().finally(() => port.close())
    }
  })
}

if (parentPort) serveRequests(parentPort)
