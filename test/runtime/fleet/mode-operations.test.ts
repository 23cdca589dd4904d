import { describe, expect, it } from 'vitest'
import { decideBoot } from '../../../src/core/decide-boot.ts'
import type { ServiceError } from '../../../src/core/errors.ts'
import type { InstallRecord } from '../../../src/core/fleet.ts'
import type { Host } from '../../../src/core/host.ts'
import { armInstall, endInstall, releaseInstall } from '../../../src/core/install.ts'
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

/** Host n01 runs live, if its files say nothing else, and has this install. */
function setUp(install: (now: number) => InstallRecord, files: Partial<Host> = { mode: 'live' }) {
  const clock = createManualTime()
  const view = createFleetView()
  view.takeFiles(makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', ...files })] }))
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

describe('a host whose files ask for an install that is over', () => {
  const files: Partial<Host> = { mode: 'install', install: { device: '/dev/sda', generation: 1 } }
  const byFile = (at: number): InstallRecord => ({ ...armed(at), source: 'file', armedBy: 'host n01' })

  it.each<[string, (at: number) => InstallRecord, string | RegExp]>([
    ['done', (at) => ({ ...byFile(at), state: 'installed' }), 'its files had it installed'],
    [
      'taken back',
      (at) => endInstall(byFile(at), { as: 'disarmed', by: 'bob', at }),
      /^the install that its files ask for was taken back at \S+Z by bob$/,
    ],
    [
      'out of scripts',
      (at) => ({ ...byFile(at), serves: 5 }),
      'the install that its files ask for has ended: its limit of 5 scripts was reached, and nothing said that it is done',
    ],
    [
      'out of time',
      (at) => ({ ...byFile(at), until: at }),
      'the install that its files ask for has ended: its time has run out, and nothing said that it is done',
    ],
    [
      'an admin released',
      (at) => releaseInstall(done(at), { by: 'bob', at }),
      /^the install that its files ask for was taken back at \S+Z by bob$/,
    ],
  ])('%s: a release says why it boots from its disk, and what to do', async (_, install, why) => {
    const { operations, decision } = setUp(install, files)
    expect(decision()).toBe('local')
    const error: ServiceError = await operations.releaseMode({ target }, change).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({
      code: 'CONFLICT',
      details: { hint: expect.stringContaining('pilotlight install n01') },
    })
    const because = error.message.replace('host n01 boots from its disk because ', '')
    if (typeof why === 'string') expect(because).toBe(why)
    else expect(because).toMatch(why)
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
