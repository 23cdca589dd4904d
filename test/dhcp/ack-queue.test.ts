import { describe, expect, it } from 'vitest'
import { createAckQueue } from '../../src/dhcp/ack-queue.ts'
import type { LeaseChange } from '../../src/dhcp/leases/lease.ts'
import { leaseChanges } from '../contracts/lease-store.ts'
import { createMemoryLeaseStore, type MemoryLeaseStore } from '../fakes/memory-lease-store.ts'

const change = leaseChanges[0] as LeaseChange

function rig(store: MemoryLeaseStore = createMemoryLeaseStore()) {
  const sent: string[] = []
  const failures: unknown[] = []
  const queue = createAckQueue({
    store,
    allChanges: () => [],
    onStored: (changes) => sent.push(`stored ${changes.length}`),
    onFailed: (error) => failures.push(error),
  })
  return { queue, store, sent, failures, push: (name: string) => queue.push(change, () => sent.push(name)) }
}

describe('acknowledgements', () => {
  it('of one loop turn share one sync, and leave in order after it', async () => {
    const { queue, store, sent, push } = rig()
    for (const name of ['a', 'b', 'c']) push(name)
    expect(sent).toEqual([])
    await queue.drain()
    expect(store.batches).toEqual([3])
    expect(sent).toEqual(['stored 3', 'a', 'b', 'c'])
  })

  it('that come while a sync runs wait for the next', async () => {
    const { queue, store, sent, push } = rig()
    const resume = store.pause()
    push('a')
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    push('b')
    push('c')
    expect(sent).toEqual([])
    resume()
    await queue.drain()
    expect(store.batches).toEqual([1, 2])
    expect(sent).toEqual(['stored 1', 'a', 'stored 2', 'b', 'c'])
  })

  it('do not leave when they could not be stored; later ones do', async () => {
    const { queue, store, sent, failures, push } = rig()
    store.failNext(new Error('disk full'))
    push('a')
    await queue.drain()
    push('b')
    await queue.drain()
    expect(sent).toEqual(['stored 1', 'b'])
    expect(failures).toHaveLength(1)
  })

  it('lead to a rewrite of the store when it has grown', async () => {
    const stored: LeaseChange[] = []
    const store = { ...createMemoryLeaseStore(stored), isRewriteDue: true }
    const { queue, push } = rig(store)
    push('a')
    await queue.drain()
    expect(stored).toEqual([])
  })

  it('drain at once when nothing waits', async () => {
    await rig().queue.drain()
  })
})
