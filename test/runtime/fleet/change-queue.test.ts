import { describe, expect, it } from 'vitest'
import type { AuditEntry, FleetChange, FleetState, FleetWrite } from '../../../src/core/fleet.ts'
import { createChangeQueue } from '../../../src/runtime/fleet/change-queue.ts'
import { createFleetMemory } from '../../../src/runtime/fleet/fleet-memory.ts'
import { createManualTime } from '../../fakes/manual-time.ts'
import { createRecordingLog } from '../../fakes/recording-log.ts'

const nothing: FleetState = { records: [], settings: [], installs: [], tokens: [], revocations: [] }
const revoked = (host: string): FleetChange => ({ put: 'revocation', revocation: { host, before: 1 } })

function setUp() {
  const writes: FleetWrite[] = []
  const applied: string[] = []
  const store = {
    write: async (_: FleetWrite): Promise<void> => {},
    state: nothing,
    async writeFleet(write: FleetWrite) {
      await store.write(write)
      writes.push(write)
    },
    loadFleet: async () => store.state,
  }
  const memory = createFleetMemory()
  const time = createManualTime()
  const told: AuditEntry[] = []
  const queue = createChangeQueue({
    store,
    memory,
    view: {
      apply: (changes) => applied.push(...changes.map((change) => JSON.stringify(change))),
      load: () => applied.push('loaded'),
    },
    onChanged: (audit) => void told.push(...audit),
    timers: time,
    log: createRecordingLog(),
  })
  const change = (host: string) =>
    queue.change(() => ({ changes: [revoked(host)], audit: [], answer: () => host }))
  return { store, writes, applied, memory, time, queue, change, told }
}

describe('changes', () => {
  it('are checked one after the other, each against what the one before has left', async () => {
    const { queue, memory } = setUp()
    const seen: number[] = []
    const add = (host: string) =>
      queue.change(async () => {
        seen.push(memory.revocations.size)
        await Promise.resolve()
        return { changes: [revoked(host)], audit: [], answer: () => {} }
      })
    await Promise.all(['a', 'b', 'c'].map(add))
    expect(seen).toEqual([0, 1, 2])
  })

  it('are in force after they are written, never before', async () => {
    const { store, applied, change } = setUp()
    store.write = async () => expect(applied).toEqual([])
    await change('a')
    expect(applied).toEqual([JSON.stringify(revoked('a'))])
  })

  it('are told with their audit entries once they are on disk and in force, and not when they are tried out', async () => {
    const { store, queue, applied, told } = setUp()
    const entry: AuditEntry = {
      at: 1,
      by: 'token ops',
      via: 'api',
      action: 'token.revoke-boot',
      target: 'host/a',
      summary: 'tokens of a end',
    }
    const change = (dryRun: boolean) =>
      queue.change(() => ({ changes: [revoked('a')], audit: [entry], answer: () => {} }), { dryRun })
    await change(true)
    expect(told).toEqual([])
    applied.length = 0
    store.write = async () => expect(told).toEqual([])
    await change(false)
    expect(applied).toHaveLength(1)
    expect(told).toEqual([entry])
    store.write = () => Promise.reject(new Error('disk full'))
    await expect(change(false)).rejects.toThrow('disk full')
    expect(told).toHaveLength(1)
  })

  it('that could not be written are told until one could', async () => {
    const { store, queue, change } = setUp()
    expect(queue.trouble()).toBeUndefined()
    store.write = () => Promise.reject(new Error('disk full'))
    await expect(change('a')).rejects.toThrow('disk full')
    expect(queue.trouble()).toBe('disk full')
    store.write = async () => {}
    await change('b')
    expect(queue.trouble()).toBeUndefined()
  })

  it('that fail their check hold up nobody and write nothing', async () => {
    const { queue, writes, change } = setUp()
    const failing = queue.change(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await change('b')
    expect(writes).toHaveLength(1)
  })

  it('behind a disk that hangs are refused after ten seconds without having begun; the others go on when it does', async () => {
    const { store, writes, time, change } = setUp()
    let goOn = () => {}
    store.write = () => new Promise((resolve) => (goOn = resolve))
    const hanging = change('a')
    const late = change('b')
    const refused = expect(late).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    await time.advance(0)
    await time.advance(10_000)
    await refused
    store.write = async () => {}
    goOn()
    expect(await hanging).toBe('a')
    expect(await change('c')).toBe('c')
    expect(writes.map(({ changes }) => changes)).toEqual([[revoked('a')], [revoked('c')]])
    expect(time.pending).toBe(0)
  })

  it('after one that may have been written are checked against what the store has; it is asked again by itself', async () => {
    const { store, applied, memory, time, change } = setUp()
    store.write = () => Promise.reject(new Error('no answer'))
    await expect(change('a')).rejects.toThrow('no answer')
    expect(applied).toEqual([])
    store.state = { ...nothing, revocations: [{ host: 'a', before: 1 }] }
    store.loadFleet = () => Promise.reject(new Error('not yet'))
    await expect(change('b')).rejects.toThrow('not yet')
    store.loadFleet = async () => store.state
    await time.advance(2_000)
    expect(applied).toEqual(['loaded'])
    expect([...memory.revocations.keys()]).toEqual(['a'])
  })

  it('of very many are put in force in slices, all of them', async () => {
    const { queue, applied } = setUp()
    const changes = Array.from({ length: 1_234 }, (_, index) => revoked(`n${index}`))
    await queue.change(() => ({ changes, audit: [], answer: () => {} }))
    expect(applied).toHaveLength(1_234)
  })
})
