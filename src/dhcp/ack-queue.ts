import type { LeaseChange, LeaseStore } from './leases/lease.ts'

/** Holds answers back until the lease changes that they promise are stored; all of one loop turn share one sync. */
export interface AckQueue {
  /** `send` runs once `change` is stored, in the order of the calls; not at all when storing fails. */
  push(change: LeaseChange, send: () => void): void
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>
}

export interface AckQueueParts {
  readonly store: LeaseStore
  /** Everything that a rewrite of the store has to hold. */
  readonly allChanges: () => readonly LeaseChange[]
  readonly onStored: (changes: readonly LeaseChange[]) => void
  readonly onFailed: (error: unknown, changes: readonly LeaseChange[]) => void
  /** Runs what sends all answers of a batch; default: one after the other. */
  readonly together?: (run: () => void) => void
}

interface Waiting {
  readonly change: LeaseChange
  readonly send: () => void
}

export function createAckQueue({
  store,
  allChanges,
  onStored,
  onFailed,
  together = (run) => run(),
}: AckQueueParts): AckQueue {
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    // The rest of this loop turn's packets come in before the first write.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await storeBatch(batch)
    }
    running = undefined
  }

  async function storeBatch(batch: readonly Waiting[]): Promise<void> {
    const changes = batch.map(({ change }) => change)
    try {
      await store.append(changes)
    } catch (error) {
      onFailed(error, changes)
      return
    }
    onStored(changes)
    together(() => {
      for (const { send } of batch) send()
    })
    if (!store.isRewriteDue) return
    try {
      await store.rewrite(allChanges())
    } catch (error) {
      onFailed(error, [])
    }
  }

  return {
    push(change, send) {
      waiting.push({ change, send })
      running ??= run()
    },
    async drain() {
      while (running !== undefined) await running
    },
  }
}
