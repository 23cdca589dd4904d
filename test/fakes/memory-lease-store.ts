import type { LeaseChange, LeaseStore } from '../../src/dhcp/leases/lease.ts'

export interface MemoryLeaseStore extends LeaseStore {
  /** What a restart would find. */
  readonly stored: LeaseChange[]
  /** How many changes each append held. */
  readonly batches: number[]
  /** Appends wait for the returned function. */
  pause(): () => void
  /** The next append fails. */
  failNext(error: Error): void
}

/** A lease store without a disk; shares what is stored between its openings when given the same array. */
export function createMemoryLeaseStore(stored: LeaseChange[] = []): MemoryLeaseStore {
  const batches: number[] = []
  let gate: Promise<void> = Promise.resolve()
  let failure: Error | undefined

  return {
    stored,
    batches,
    isRewriteDue: false,
    pause() {
      let resume = (): void => undefined
      gate = new Promise((resolve) => {
        resume = resolve
      })
      return resume
    },
    failNext(error) {
      failure = error
    },
    load: async () => [...stored],
    async append(changes) {
      await gate
      batches.push(changes.length)
      const error = failure
      failure = undefined
      if (error) throw error
      stored.push(...changes)
    },
    async rewrite(changes) {
      stored.splice(0, stored.length, ...changes)
    },
    async close() {},
  }
}
