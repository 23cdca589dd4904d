import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BootId } from '../../src/core/boot-event.ts'
import type { InstallRecord } from '../../src/core/fleet.ts'
import {
  armInstall,
  endInstall,
  type InstallQuestion,
  installReported,
  installServed,
  installStanding,
  releaseInstall,
} from '../../src/core/install.ts'

const bootId = 'A'.repeat(22) as BootId
const day = 24 * 60 * 60 * 1000

function standing(record: InstallRecord | undefined, question: Partial<InstallQuestion> = {}) {
  return installStanding({
    host: 'n01',
    ...(record === undefined ? {} : { record }),
    generation: 1,
    armedBy: () => 'host n01',
    now: 0,
    ...question,
  })
}

/** The record in force, as whoever writes it down finds it. */
function recordOf(record: InstallRecord | undefined, question: Partial<InstallQuestion> = {}): InstallRecord {
  const found = standing(record, question).record
  if (found === undefined) throw new TypeError('nothing is armed or over')
  return found
}

const file = (generation: number, now = 0) => ({ mode: 'install', generation, now }) as const
const byAdmin = armInstall(undefined, 1, { host: 'n01', by: 'alice', at: 0 })
const installed = { status: 'installed', bootId, at: 7 } as const

describe('armed by a file', () => {
  it('needs no record, and has limits that begin with the first word written of it', () => {
    expect(standing(undefined, file(3, 50))).toMatchObject({
      kind: 'armed',
      record: {
        source: 'file',
        generation: 3,
        fileGeneration: 3,
        armedAt: 50,
        until: 50 + day,
        mostServes: 5,
      },
    })
    expect(standing(undefined, { mode: 'live' }).kind).toBe('none')
  })

  it('is done for this generation, and armed by the next one', () => {
    const done = installReported(recordOf(undefined, file(1)), installed)
    expect(standing(done, file(1)).kind).toBe('over')
    expect(standing(done, file(2))).toMatchObject({ kind: 'armed', record: { generation: 2, serves: 0 } })
  })

  it('counts scripts of one arming together, and a new generation anew, whatever ended the last one', () => {
    const served = [1, 2, 3, 4, 5].reduce((record) => installServed(record), recordOf(undefined, file(1)))
    expect(standing(served, file(1))).toMatchObject({
      kind: 'over',
      record: { state: 'exhausted', serves: 5 },
    })
    expect(standing(served, file(2))).toMatchObject({ kind: 'armed', record: { serves: 0 } })
    const late = installServed(recordOf(undefined, file(1)))
    expect(standing(late, file(1, day)).record?.state).toBe('exhausted')
    expect(standing(late, file(2, day)).kind).toBe('armed')
  })

  it('is taken back when its files say a lower generation again', () => {
    const done = installReported(recordOf(undefined, file(1)), installed)
    const again = installServed(recordOf(done, file(2)))
    expect(standing(again, file(1))).toMatchObject({ kind: 'over', record: { state: 'disarmed' } })
    expect(standing(again, file(2)).kind).toBe('armed')
  })

  it('means nothing in another mode', () => {
    const served = installServed(recordOf(undefined, file(1)))
    const done = installReported(served, installed)
    expect([served, done].map((record) => standing(record, { mode: 'live' }).kind)).toEqual(['none', 'none'])
  })
})

describe('armed by an admin', () => {
  it('is armed whatever the mode is, and done whatever the mode is', () => {
    for (const mode of ['live', 'local', 'install', undefined] as const) {
      const question = mode === undefined ? {} : { mode }
      expect(standing(byAdmin, question).kind).toBe('armed')
      expect(standing(installReported(byAdmin, installed), question).kind).toBe('over')
    }
  })

  it('speaks for the generation of the files at that time: nothing is installed twice', () => {
    const before = armInstall(undefined, 4, { host: 'n01', by: 'alice', at: 0 })
    const done = installReported(before, installed)
    expect(standing(done, file(4)).kind).toBe('over')
    expect(standing(done, file(5))).toMatchObject({
      kind: 'armed',
      record: { source: 'file', generation: 5 },
    })
  })

  it('that is disarmed or released is gone, and does not let a file install what it spoke for', () => {
    const disarmed = endInstall(byAdmin, { as: 'disarmed', by: 'bob', at: 3 })
    const released = releaseInstall(installReported(byAdmin, installed), { by: 'bob', at: 9 })
    for (const record of [disarmed, released]) {
      expect(standing(record, { mode: 'live' }).kind).toBe('none')
      expect(standing(record, file(1))).toMatchObject({ kind: 'over', record: { changedBy: 'bob' } })
      expect(standing(record, file(2)).kind).toBe('armed')
    }
  })

  it('has a number of its own each time', () => {
    const again = armInstall(installReported(byAdmin, installed), 1, { host: 'n01', by: 'bob', at: 1 })
    expect([byAdmin.generation, again.generation]).toEqual([1, 2])
    expect(again).toMatchObject({ state: 'armed', serves: 0, armedBy: 'bob' })
  })

  it('ends at its own limits', () => {
    const limits = { host: 'n01', by: 'alice', at: 0, mostServes: 1, until: 100 }
    const record = armInstall(undefined, 1, limits)
    expect([standing(record, { now: 99 }), standing(record, { now: 100 })].map(({ kind }) => kind)).toEqual([
      'armed',
      'over',
    ])
    expect(standing(installServed(record)).kind).toBe('over')
  })
})

describe('reports', () => {
  it('of a failure leave it armed and are remembered', () => {
    const failed = installReported(byAdmin, { status: 'failed', bootId, at: 3, message: 'no disk' })
    expect(failed).toMatchObject({ state: 'armed', failure: { at: 3, bootId, message: 'no disk' } })
  })

  it('that it is installed come twice and count once', () => {
    const done = installReported(byAdmin, installed)
    expect(done).toMatchObject({ state: 'installed', changedAt: 7, changedBy: `boot ${bootId}` })
    expect(installReported(done, { ...installed, at: 8 })).toBe(done)
  })

  it('that it is installed count after the limits as well', () => {
    const exhausted = recordOf({ ...byAdmin, serves: 5 })
    expect(exhausted.state).toBe('exhausted')
    expect(installReported(exhausted, installed).state).toBe('installed')
  })
})

describe('whatever happens in whatever order', () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('serve'), wait: fc.nat({ max: 3 * 60 * 60 * 1000 }) }),
    fc.record({
      does: fc.constantFrom('fail', 'report', 'say-done', 'release'),
      wait: fc.nat({ max: 1000 }),
    }),
    fc.record({
      does: fc.constantFrom('arm', 'raise-file', 'other-mode', 'mode-install'),
      wait: fc.constant(1),
    }),
  )

  it('no install after evidence without a new arming, and serving alone ends none before its limits (field cases 153, 154)', () => {
    let armings = 0
    let evidences = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let record: InstallRecord | undefined
        let mode: 'install' | 'live' = 'install'
        let generation = 1
        let now = 0
        let isDone = false
        let serves = 0
        for (const { does, wait } of steps) {
          now += wait
          const found = standing(record, { mode, generation, now })
          if (isDone) expect(found.kind).not.toBe('armed')
          if (does === 'serve' && found.kind === 'armed') {
            record = installServed(found.record)
            serves += 1
            const isAtLimit = serves >= 5 || now >= record.until
            expect(standing(record, { mode, generation, now }).kind).toBe(isAtLimit ? 'over' : 'armed')
          } else if (does === 'report' && found.record !== undefined && found.kind !== 'none') {
            record = installReported(found.record, { status: 'installed', bootId, at: now })
            isDone = true
            evidences += 1
          } else if (does === 'say-done' && found.kind !== 'none') {
            record = endInstall(found.record, { as: 'installed', by: 'bob', at: now })
            isDone = true
          } else if (does === 'fail' && found.kind === 'armed') {
            record = installReported(found.record, { status: 'failed', bootId, at: now })
            expect(standing(record, { mode, generation, now }).kind).toBe('armed')
          } else if (does === 'release' && record?.source === 'admin' && record.state !== 'armed') {
            record = releaseInstall(record, { by: 'bob', at: now })
          } else if (does === 'arm') {
            record = armInstall(found.record, generation, { host: 'n01', by: 'alice', at: now })
            isDone = false
            serves = 0
            armings += 1
          } else if (does === 'raise-file') {
            generation = Math.max(generation, record?.fileGeneration ?? 0) + 1
            // An admin's arming goes on until it is over, and its scripts are counted on.
            if (record?.source !== 'admin' || standing(record, { now }).kind !== 'armed') serves = 0
            isDone = false
          } else if (does === 'other-mode') mode = 'live'
          else if (does === 'mode-install') mode = 'install'
        }
      }),
      { numRuns: process.env.SOAK ? 20_000 : 1000 },
    )
    expect(armings).toBeGreaterThan(100)
    expect(evidences).toBeGreaterThan(100)
  })
})
