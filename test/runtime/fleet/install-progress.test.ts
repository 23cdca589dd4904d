import { expect, it } from 'vitest'
import type { BootId } from '../../../src/core/boot-event.ts'
import { decideBoot } from '../../../src/core/decide-boot.ts'
import type { FleetChange } from '../../../src/core/fleet.ts'
import type { Host } from '../../../src/core/host.ts'
import { armInstall } from '../../../src/core/install.ts'
import { createChangeQueue } from '../../../src/runtime/fleet/change-queue.ts'
import { createFleetMemory } from '../../../src/runtime/fleet/fleet-memory.ts'
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts'
import { createInstallProgress } from '../../../src/runtime/fleet/install-progress.ts'
import { makeBootimage } from '../../fakes/bootimages.ts'
import { makeCatalog } from '../../fakes/catalogs.ts'
import { makeClient, makeHost, makeInventory, nodeMac } from '../../fakes/machines.ts'
import { createManualTime } from '../../fakes/manual-time.ts'
import { createMemoryStore } from '../../fakes/memory-store.ts'
import { createRecordingLog } from '../../fakes/recording-log.ts'

const bootId = 'A'.repeat(22) as BootId

function open() {
  const clock = createManualTime()
  const view = createFleetView()
  const memory = createFleetMemory()
  const store = createMemoryStore()
  const log = createRecordingLog()
  const queue = createChangeQueue({ store, memory, view, timers: clock, log })
  const apply = (changes: readonly FleetChange[]) => {
    memory.apply(changes)
    view.apply(changes)
  }
  const bootView = () => ({
    catalog: makeCatalog({ current: makeBootimage() }),
    inventory: view.inventory(),
    now: clock.now(),
  })
  const progress = createInstallProgress({
    queue,
    memory,
    store,
    view: bootView,
    clock,
    apply,
    timers: clock,
    log,
  })
  const filesSay = (said: Partial<Host>) =>
    view.takeFiles(makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', ...said })] }))
  const decision = () => decideBoot(makeClient(), bootView()).kind
  return { clock, view, memory, store, queue, apply, progress, filesSay, decision }
}

it('evidence for an install that an admin armed is evidence for what the files ask for meanwhile (field case 154)', async () => {
  const { clock, apply, progress, filesSay, decision } = open()

  filesSay({ mode: 'live' })
  apply([
    {
      put: 'install',
      install: armInstall(undefined, 1, { host: 'n01', by: 'alice', at: clock.now(), device: '/dev/sda' }),
    },
  ])
  expect(decision()).toBe('install')
  progress.served('n01', bootId)
  filesSay({ mode: 'install', install: { device: '/dev/sda', generation: 2 } })
  const report = { bootId, status: 'installed', at: clock.now(), host: 'n01' } as const
  expect(await progress.record(report, clock.now())).toBe('recorded')
  expect(decision()).toBe('local')
  filesSay({ mode: 'install', install: { device: '/dev/sda', generation: 3 } })
  expect(decision()).toBe('install')
  await progress.stop()
})

it('a script that is handed out while the count before it is written is counted as well', async () => {
  const { clock, memory, store, progress, filesSay } = open()
  const [first, second] = ['B', 'C'].map((letter) => letter.repeat(22) as BootId)
  filesSay({ mode: 'install', install: { device: '/dev/sda' } })
  const writeFleet = store.writeFleet.bind(store)
  Object.assign(store, {
    writeFleet: async (...write: Parameters<typeof writeFleet>) => {
      await writeFleet(...write)
      Object.assign(store, { writeFleet })
      progress.served('n01', second as BootId)
    },
  })
  progress.served('n01', first as BootId)
  await clock.advance(100)
  await progress.stop()
  expect(memory.installs.get('n01')).toMatchObject({ serves: 2, marks: [`MAC ${nodeMac}`] })
  expect((await store.loadFleet()).installs).toMatchObject([{ serves: 2 }])
})
