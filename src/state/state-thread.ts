import { Worker } from 'node:worker_threads'
import { ServiceError } from '../core/errors.ts'
import type { FleetChange } from '../core/fleet.ts'
import { fromPlainError } from '../core/plain-error.ts'
import type { DatabaseUpdate } from './open-database.ts'
import type { UnreadableRows } from './readable-rows.ts'
import {
  monotonicMs,
  type SqlStoreMethod,
  type StateReply,
  type StateRequest,
  type StateTask,
} from './state-messages.ts'

/** How long the thread may take to end by itself; a disk may hold it for ever. */
const closingMs = 15_000

/**
 * The compiled entry. Node 20 cannot start a thread from TypeScript, so that the sources use the build's.
 */
export const stateWorkerEntry: URL = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/state/state-worker.js', import.meta.url)
  : new URL('./state-worker.js', import.meta.url)

export interface StateThread {
  /** Once the database is open and up to date; fails as opening it does. */
  readonly opened: Promise<DatabaseUpdate | undefined>
  /** @throws ServiceError STATE_UNAVAILABLE when it does not answer in time, or has ended */
  call(request: {
    readonly method: SqlStoreMethod
    /** For errors. */
    readonly step: string
    readonly args: readonly unknown[]
    readonly timeoutMs: number
    /** Come before those of the arguments, in messages of their own. */
    readonly earlierChanges?: AsyncIterable<readonly FleetChange[]>
  }): Promise<unknown>
  /** Ends what was begun first. May be called twice. */
  close(): Promise<void>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The thread that holds the store. It keeps the process alive only while somebody waits for it. */
export function startStateThread(options: {
  readonly task: Extract<StateTask, { task: 'store' }>
  readonly entry?: URL
  readonly onUnreadable: (rows: UnreadableRows) => void
  /** It ended by itself: nothing can be kept any more until the process is started again. */
  readonly onStopped: (why: string) => void
}): StateThread {
  const { task, entry = stateWorkerEntry, onUnreadable, onStopped } = options
  const waiting = new Map<number, Waiting>()
  const worker = new Worker(entry, { workerData: task, name: 'state' })
  const opening = pending<DatabaseUpdate | undefined>()
  let lastId = 0
  let stopped: string | undefined
  let closing: Promise<void> | undefined

  worker.on('message', (reply: StateReply) => {
    if (reply.type === 'unreadable') return onUnreadable(reply.rows)
    if (reply.type === 'opened') {
      if (waiting.size === 0) worker.unref()
      return opening.resolve(reply.update)
    }
    if (reply.type === 'done') return waiting.get(reply.id)?.resolve(reply.value)
    const error = fromPlainError(reply.error)
    if (reply.id === undefined) opening.reject(error)
    else waiting.get(reply.id)?.reject(error)
  })
  worker.on('error', (error) => stop(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => stop(`it ended with code ${code}`))

  function stop(why: string): void {
    if (stopped !== undefined) return
    stopped = why
    opening.reject(stoppedError('opening the state database', why))
    if (closing === undefined) onStopped(why)
    for (const call of waiting.values()) call.reject(stoppedError('the state store', why))
  }

  function send(request: StateRequest): void {
    worker.postMessage(request)
  }

  return {
    opened: opening.promise,

    async call({ method, step, args, timeoutMs, earlierChanges }) {
      if (stopped !== undefined) throw stoppedError(step, stopped)
      lastId += 1
      const id = lastId
      const until = monotonicMs() + timeoutMs
      // Without a turn in between where there is none: what is asked first is done first.
      if (earlierChanges !== undefined)
        for await (const changes of earlierChanges) send({ type: 'changes', id, changes })
      if (stopped !== undefined) throw stoppedError(step, stopped)
      worker.ref()
      let timer: NodeJS.Timeout | undefined
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(id, { resolve, reject })
          timer = setTimeout(() => reject(silentError(method, step, timeoutMs)), timeoutMs)
          send({ type: 'call', id, method, args, until })
        })
      } finally {
        clearTimeout(timer)
        waiting.delete(id)
        if (waiting.size === 0) worker.unref()
      }
    },

    close() {
      closing ??= end()
      return closing
    },
  }

  async function end(): Promise<void> {
    if (stopped !== undefined) return
    worker.ref()
    const ended = pending<void>()
    worker.once('exit', () => ended.resolve())
    send({ type: 'close' })
    // What hangs in the disk cannot be ended: the operating system does that after the process.
    const deadline = setTimeout(() => {
      void worker.terminate()
      worker.unref()
      ended.resolve()
    }, closingMs)
    await ended.promise
    clearTimeout(deadline)
  }
}

interface Pending<T> extends Waiting {
  readonly promise: Promise<T>
  resolve(value: T): void
}

/** A promise that others settle; Node 20 has no `Promise.withResolvers`. */
function pending<T>(): Pending<T> {
  let settle: Pick<Pending<T>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return {
    promise,
    resolve: (value) => settle?.resolve(value),
    reject: (error) => settle?.reject(error),
  }
}

/** Work on files in a thread of its own, however long they take. */
export function runStateTask(
  task: Exclude<StateTask, { task: 'store' }>,
  entry: URL = stateWorkerEntry,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { workerData: task, name: task.task })
    worker.on('message', (reply: StateReply) => {
      if (reply.type === 'done') resolve(reply.value)
      if (reply.type === 'failed') reject(fromPlainError(reply.error))
    })
    worker.on('error', reject)
    worker.on('exit', (code) => reject(new Error(`the thread for ${task.task} ended with code ${code}`)))
  })
}

function silentError(method: SqlStoreMethod, step: string, timeoutMs: number): ServiceError {
  const isRead = /^(list|load)/.test(method)
  const truth = isRead ? '' : ', it may still be written'
  return new ServiceError(
    'STATE_UNAVAILABLE',
    `${step}: the state database did not answer within ${timeoutMs / 1000} s${truth}; look at its disk`,
    { step, timeoutMs },
  )
}

function stoppedError(step: string, why: string): ServiceError {
  return new ServiceError(
    'STATE_UNAVAILABLE',
    `${step}: the thread that holds the state has stopped (${why}); restart the service`,
    { step },
  )
}
