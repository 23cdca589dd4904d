import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeases, type Leases } from '../../src/boot/leases.ts'
import { longestBootAttemptMs } from '../../src/core/boot-lease.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { createLeaseWriter, type LeaseWriter } from '../../src/runtime/lease-writer.ts'
import { createSqlStore, type SqlStore } from '../../src/state/create-sql-store.ts'
import { migrate } from '../../src/state/migrate.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateTables } from '../../src/state/tables.ts'
import { createManualTime, type ManualTime } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeBootId } from '../fakes/stored-fleet.ts'

const maximum = 1000
const first = 'sample/x86_64/1/a' as BootimageId
const second = 'sample/x86_64/2/b' as BootimageId
const start = Date.UTC(2026, 10, 29)

let directory: string
let store: SqlStore
let time: ManualTime
let leases: Leases
let log: ReturnType<typeof createRecordingLog>
let writer: LeaseWriter

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-leases-'))
  const db = openSqlite<StateTables>(join(directory, 'state.db'))
  await migrate(db)
  store = createSqlStore({ db })
  time = createManualTime(start)
  log = createRecordingLog()
  open()
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

/** A service that has just started, over the same store. */
function open(): void {
  leases = createLeases({ maximum })
  writer = createLeaseWriter({ leases, store, clock: time, timers: time, log, maximum })
}

let lastBoot = 0
function boot(bootimage: BootimageId): void {
  lastBoot += 1
  const at = time.now()
  leases.start({ bootId: makeBootId(lastBoot), bootimage, startedAt: at, lastSeenAt: at })
}

const stored = async () => (await store.listBootLeases({ lastSeenAfter: 0, limit: 1e6 })).length

describe('boot attempts on their way to the store', () => {
  it('G6 G7 are there after a restart', async () => {
    boot(first)
    writer.start()
    await time.advance(1_000)
    open()
    await writer.restore()
    expect(leases.leasedBootimages(time.now())).toEqual(new Set([first]))
    expect(leases.size).toBe(1)
  })

  it('G6 of a flood fill neither disk nor memory, and no bootimage in use loses its lease', async () => {
    boot(first)
    writer.start()
    await time.advance(1_000)
    let most = 0
    for (let second_ = 0; second_ < 30; second_ += 1) {
      for (let machine = 0; machine < 1_500; machine += 1) boot(second)
      await time.advance(1_000)
      most = Math.max(most, await stored())
    }
    expect(leases.size).toBeLessThanOrEqual(maximum)
    // A step of the clean-up is 5,000 rows.
    expect(most).toBeLessThanOrEqual(maximum + 6_000)
    const leased = new Set([first, second])
    expect(leases.leasedBootimages(time.now())).toEqual(leased)

    await writer.stop()
    open()
    await writer.restore()
    expect(leases.leasedBootimages(time.now())).toEqual(leased)
    expect(leases.size).toBeLessThanOrEqual(maximum)
    // The one boot of before the flood was over first, though nobody knows any more whose it was.
    expect(leases.leasedBootimages(start + longestBootAttemptMs)).toEqual(new Set([second]))
    expect(leases.leasedBootimages(time.now() + longestBootAttemptMs)).toEqual(new Set())
  })

  it('of a flood are told of once, with what it may mean', async () => {
    writer.start()
    for (let turn = 0; turn < 12; turn += 1) {
      for (let machine = 0; machine < 1_500; machine += 1) boot(second)
      await time.advance(1_000)
    }
    const told = log.lines.filter(({ message }) => message.startsWith('more boots within two hours'))
    expect(told).toEqual([
      { level: 'warn', message: expect.stringContaining('made-up'), fields: { kept: maximum } },
    ])
  })

  it('G7 left behind by millions are not all loaded, and leave step by step', async () => {
    const old = time.now() - 60_000
    for (let from = 0; from < 12_000; from += 1000) {
      const attempts = Array.from({ length: 1000 }, (_, index) => ({
        bootId: makeBootId(from + index),
        bootimage: from === 0 ? first : second,
        startedAt: old,
        lastSeenAt: old + from + index,
      }))
      await store.saveBootLeases(attempts)
    }
    await writer.restore()
    expect(leases.size).toBe(maximum)
    expect(leases.leasedBootimages(time.now())).toEqual(new Set([first, second]))
    writer.start()
    await time.advance(1_000)
    expect(await stored()).toBe(7_000)
    await time.advance(2_000)
    expect(await stored()).toBe(maximum)
    open()
    await writer.restore()
    expect(leases.leasedBootimages(time.now())).toEqual(new Set([first, second]))
  })

  it('G6 with a time that is yet to come are leased from now, not for ever', async () => {
    await store.saveBootLeases([
      { bootId: makeBootId(1), bootimage: first, startedAt: start, lastSeenAt: start * 2 },
    ])
    await writer.restore()
    expect(leases.leasedBootimages(start)).toEqual(new Set([first]))
    expect(leases.leasedBootimages(start + longestBootAttemptMs)).toEqual(new Set())
  })

  it('that are over leave the store', async () => {
    boot(first)
    writer.start()
    await time.advance(1_000)
    expect(await stored()).toBe(1)
    await time.advance(longestBootAttemptMs + 60 * 60_000)
    expect(await stored()).toBe(0)
  })

  it('that are over leave the store though the clock was set back by years meanwhile', async () => {
    const clock = { now: () => time.now() + ahead }
    let ahead = 20 * 365 * 24 * 60 * 60_000
    writer = createLeaseWriter({ leases, store, clock, timers: time, log, maximum })
    writer.start()
    await time.advance(2_000)
    ahead = 0
    boot(first)
    await time.advance(1_000)
    expect(await stored()).toBe(1)
    await time.advance(longestBootAttemptMs + 60 * 60_000)
    expect(await stored()).toBe(0)
  })
})
