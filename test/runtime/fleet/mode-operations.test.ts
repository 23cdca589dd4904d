import { describe, expect, it } from 'vitest'
import { decideBoot } from '../../../src/core/decide-boot.ts'
import type { InstallRecord } from '../../../src/core/fleet.ts'
import { armInstall, endInstall } from '../../../src/core/install.ts'
import { createChangeQueue } from '../../../src/runtime/fleet/change-queue.ts'
import { createFleetMemory } from '../../../src/runtime/fleet/fleet-memory.ts'
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts'
import { createModeOperations } from '../../../src/runtime/fleet/mode-operations.ts'
import { makeBootimage } from '../../fakes/bootimages.ts'
import { makeCatalog } from '../../fakes/catalogs.ts'
import { makeClient, makeHost, makeInventory } from '../../fakes/machines.ts'
import { createManualTime } from '../../fakes/manual-time.ts'
import { createMemoryStore } from '../../fakes/memory-store.ts'
import { createRecordingLog } from '../../fakes/recording-log.ts'

const target = { kind: 'host', name: 'n01' } as const
const change = { actor: { by: 'alice', via: 'control' } } as const
const catalog = makeCatalog({ current: makeBootimage() })

/** Host n01 runs live, and has this install. */
function setUp(install: (now: number) => InstallRecord) {
  const clock = createManualTime()
  const view = createFleetView()
  view.takeFiles(makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live' })] }))
  const memory = createFleetMemory()
  const store = createMemoryStore()
  const queue = createChangeQueue({ store, memory, view, timers: clock, log: createRecordingLog() })
  for (const place of [view, memory]) place.apply([{ put: 'install', install: install(clock.now()) }])
  const bootView = () => ({ catalog, inventory: view.inventory(), now: clock.now() })
  return {
    operations: createModeOperations({ queue, memory, view: bootView, clock }),
    decision: () => decideBoot(makeClient(), bootView()).kind,
  }
}

const armed = (at: number) => armInstall(undefined, 1, { host: 'n01', by: 'bob', at, device: '/dev/sda' })
const done = (at: number) => endInstall(armed(at), { as: 'installed', by: 'bob', at })
const spent = (at: number): InstallRecord => ({ ...armed(at), serves: 5 })

describe('a host that boots from its disk because an install is over', () => {
  it.each([
    ['done', done],
    ['given up at its limit', spent],
  ])('%s: boots as its records say again when that is released', async (_, install) => {
    const { operations, decision } = setUp(install)
    expect(decision()).toBe('local')
    await operations.releaseMode({ target }, change)
    expect(decision()).toBe('live')
  })

  it.each([
    ['done', done],
    ['given up at its limit', spent],
  ])('%s: boots live when that is said afterwards', async (_, install) => {
    const { operations, decision } = setUp(install)
    await operations.setMode({ target, mode: 'live' }, change)
    expect(decision()).toBe('live')
  })
})

describe('a host whose install is armed', () => {
  it('is not told a mode that would do nothing', async () => {
    const { operations, decision } = setUp(armed)
    await expect(operations.setMode({ target, mode: 'local' }, change)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'install 1 of host n01, armed by bob, stands above mode local',
      details: { hint: 'pilotlight install n01 --disarm takes it back; hold stands above it' },
    })
    expect(decision()).toBe('install')
  })

  it('can be held, and goes on when it is released', async () => {
    const { operations, decision } = setUp(armed)
    await operations.setMode({ target, mode: 'hold', reason: 'wait' }, change)
    expect(decision()).toBe('hold')
    await operations.releaseMode({ target }, change)
    expect(decision()).toBe('install')
  })
})
