import { AsyncLocalStorage } from 'node:async_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import type { FleetChange, FleetWrite } from '../core/fleet.ts'
import { toPlainError } from '../core/plain-error.ts'
import { writeBackup } from './backup.ts'
import { createSqlStore } from './create-sql-store.ts'
import { openDatabase } from './open-database.ts'
import { prepareRestore } from './prepare-restore.ts'
import { monotonicMs, type StateReply, type StateRequest, type StateTask } from './state-messages.ts'

type Port = NonNullable<typeof parentPort>
type Call = Extract<StateRequest, { type: 'call' }>

/**
 * Entry of the thread that speaks to the database: what a slow disk or a locked file holds up is this thread alone,
 * never an answer to a machine that boots.
 */
async function run(port: Port, task: StateTask): Promise<void> {
  const reply = (message: StateReply) => port.postMessage(message)
  try {
    if (task.task === 'store') await holdStore(port, task, reply)
    else if (task.task === 'backup') reply({ type: 'done', id: 0, value: writeBackup(task) })
    else reply({ type: 'done', id: 0, value: await prepareRestore(task) })
  } catch (error) {
    reply({ type: 'failed', error: toPlainError(error) })
    port.close()
  }
}

async function holdStore(
  port: Port,
  { file, backups }: Extract<StateTask, { task: 'store' }>,
  reply: (message: StateReply) => void,
): Promise<void> {
  const untilOfCall = new AsyncLocalStorage<number>()
  const { db, update } = await openDatabase({ file, backups, now: Date.now() })
  const store = createSqlStore({
    db,
    onUnreadable: (rows) => reply({ type: 'unreadable', rows }),
    checkTime: () => checkTime(untilOfCall.getStore()),
  })
  const running = new Set<Promise<void>>()
  const earlierChanges = new Map<number, FleetChange[]>()

  async function answer({ id, method, args, until }: Call): Promise<void> {
    try {
      const changes = earlierChanges.get(id)
      earlierChanges.delete(id)
      const whole = changes === undefined ? args : [withChanges(changes, args[0] as FleetWrite)]
      const value = await untilOfCall.run(until, () => {
        checkTime(until)
        return (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...whole)
      })
      reply({ type: 'done', id, value })
    } catch (error) {
      reply({ type: 'failed', id, error: toPlainError(error) })
    }
  }

  port.on('message', (request: StateRequest) => {
    if (request.type === 'call') {
      const work = answer(request).finally(() => running.delete(work))
      running.add(work)
    } else if (request.type === 'changes') {
      const changes = earlierChanges.get(request.id) ?? []
      earlierChanges.set(request.id, changes)
      for (const change of request.changes) changes.push(change)
    } else {
      void Promise.allSettled(running)
        .then(() => store.close())
        .finally(() => port.close())
    }
  })
  reply({ type: 'opened', ...(update === undefined ? {} : { update }) })
}

function withChanges(earlier: readonly FleetChange[], { changes, audit }: FleetWrite): FleetWrite {
  return { changes: [...earlier, ...changes], audit }
}

/** Whoever asked was told that it failed: what is not done yet must not be done behind his back. */
function checkTime(until: number | undefined): void {
  if (until !== undefined && monotonicMs() > until) throw new Error('it took too long and was not done')
}

if (parentPort) void run(parentPort, workerData as StateTask)
