import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FleetWrite } from '../../src/core/fleet.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import type { StateStore } from '../../src/state/store.ts'
import { makeAudit, makePin } from '../fakes/stored-fleet.ts'

const holder = join(import.meta.dirname, 'lock-holder.mjs')
const pinTo = (release: string): FleetWrite => ({
  changes: [{ put: 'setting', setting: makePin({ release }) }],
  audit: [makeAudit({ summary: release })],
})

describe('a state database that another process holds', () => {
  let directory: string
  let file: string
  let store: StateStore
  let unlock: () => Promise<void>
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-locked-'))
    file = join(directory, 'state.db')
    store = await openStateStore({ file })
    await store.writeFleet(pinTo('44.1'))
    unlock = async () => {}
  })
  afterEach(async () => {
    await unlock()
    await store.close()
    await rm(directory, { recursive: true })
  })

  async function lock(): Promise<void> {
    const child = spawn(process.execPath, [holder, file], { stdio: ['pipe', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    unlock = async () => {
      child.stdin.end()
      await exited
    }
    await once(child.stdout, 'data')
  }

  it('G7 for longer than a write waits: it is refused, nobody else is held up, and what was acknowledged stays', {
    timeout: 60_000,
  }, async () => {
    await lock()
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await expect(store.writeFleet(pinTo('44.2'))).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
      message: 'writing a change: database is locked',
      details: { sqliteCode: 'SQLITE_BUSY' },
    })
    delay.disable()
    // In the thread that answers machines it would have been ten seconds.
    expect(delay.max / 1e6).toBeLessThan(1_000)
    expect((await store.loadFleet()).settings).toEqual([makePin({ release: '44.1' })])

    await unlock()
    await store.writeFleet(pinTo('44.3'))
    expect((await store.loadFleet()).settings).toEqual([makePin({ release: '44.3' })])
    expect((await store.listAudit({ limit: 9 })).items.map(({ summary }) => summary)).toEqual([
      '44.3',
      '44.1',
    ])
  })

  it('G7 for a while: what was asked meanwhile is written when the lock goes, in order', async () => {
    await lock()
    const writes = ['44.2', '44.3', '44.4'].map((release) => store.writeFleet(pinTo(release)))
    await unlock()
    await Promise.all(writes)
    expect((await store.loadFleet()).settings).toEqual([makePin({ release: '44.4' })])
    expect((await store.listAudit({ limit: 9 })).total).toBe(4)
  })
})
