import { expect, it } from 'vitest'
import { createStrangers } from '../../src/boot/strangers.ts'
import { createStrangerWriter } from '../../src/runtime/stranger-writer.ts'
import { mac, nodeMac } from '../fakes/machines.ts'
import { createManualTime } from '../fakes/manual-time.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

function setUp(store = createMemoryStore()) {
  const strangers = createStrangers()
  const time = createManualTime()
  const log = createRecordingLog()
  const known = new Set<string>()
  const isKnown = (address: string) => known.has(address)
  const writer = createStrangerWriter({ strangers, store, isKnown, timers: time, log })
  return { store, strangers, known, time, log, writer }
}

it('unknown machines reach the store by themselves, and are there after a restart', async () => {
  const { store, strangers, time, writer } = setUp()
  writer.start()
  strangers.saw({ mac: nodeMac, at: 1, arch: 'aarch64' })
  await time.advance(2_000)
  expect(await store.listSeenMachines({ limit: 10 })).toMatchObject([{ mac: nodeMac, arch: 'aarch64' }])
  strangers.saw({ mac: mac('52:54:00:00:00:02'), at: 2 })
  await writer.stop()
  expect(time.pending).toBe(0)
  const again = setUp(store)
  await again.writer.restore()
  expect(again.strangers.list().map((machine) => machine.mac)).toEqual(['52:54:00:00:00:02', nodeMac])
  expect(again.strangers.takeUnsaved(10)).toEqual([])
})

it('a machine that became a host meanwhile is written no more', async () => {
  const { store, strangers, known, writer } = setUp()
  strangers.saw({ mac: nodeMac, at: 1 })
  known.add(nodeMac)
  await writer.stop()
  expect(await store.listSeenMachines({ limit: 10 })).toEqual([])
  expect(strangers.list()).toEqual([])
})

it('a store that fails is told of once, and what was not written is written when it can be', async () => {
  const store = createMemoryStore()
  let isBroken = true
  const save = store.saveSeenMachines
  const { strangers, time, log, writer } = setUp({
    ...store,
    saveSeenMachines: (machines) => (isBroken ? Promise.reject(new Error('disk full')) : save(machines)),
  })
  writer.start()
  strangers.saw({ mac: nodeMac, at: 1 })
  await time.advance(10_000)
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  isBroken = false
  await time.advance(2_000)
  expect(await store.listSeenMachines({ limit: 10 })).toHaveLength(1)
  await writer.stop()
})
