import { describe, expect, it } from 'vitest'
import { createTimeline } from '../../../src/boot/timeline/create-timeline.ts'
import type { AttemptRecord } from '../../../src/core/boot-attempt.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import {
  bootIdNumber,
  goodBoot,
  macNumber,
  stepsOfMachine,
  testRelease,
  testStart,
} from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
const hour = 3600

function hosts(count: number) {
  return Array.from({ length: count }, (_, index) =>
    stepsOfMachine({
      number: index + 1,
      host: `n${index + 1}`,
      address: `10.0.${index >> 8}.${index & 255}`,
    }),
  )
}

describe('what the timeline keeps in memory', () => {
  it('a flood of made-up machines leaves the boots of hosts where they are', () => {
    const player = createBootPlayer({ maxima: { attempts: 200, strangersPerSecond: 100_000 } })
    player.play(goodBoot(one, 0, 1).slice(0, 9))
    for (let number = 100; number < 5100; number += 1) {
      player.timeline.note({ ...stepsOfMachine({ number }).offer(10), mac: macNumber(number) })
    }
    expect(player.attempts().length).toBeLessThanOrEqual(200)
    expect(player.timeline.of({ host: 'n01' })).toMatchObject([{ state: 'running', phase: 'kernel' }])
    player.play(goodBoot(one, 0, 1).slice(9))
    expect(player.timeline.of({ host: 'n01' })).toMatchObject([{ outcome: 'booted' }])
  })

  it('a flood of made-up addresses and boot ids grows nothing', () => {
    const player = createBootPlayer({ maxima: { attempts: 200 } })
    player.play(goodBoot(one, 0, 1).slice(0, 9))
    for (let number = 0; number < 20_000; number += 1) {
      const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
      player.timeline.note({ ...one.tftpStart(10), mac: undefined, address })
      player.timeline.note({ ...one.sent(10, 1000 + number, 'kernel'), address })
      player.timeline.note({ ...one.refused(10, undefined, 'forged'), address })
    }
    expect(player.attempts().length).toBeLessThanOrEqual(200)
    expect(player.timeline.of({ host: 'n01' })).toMatchObject([{ state: 'running' }])
  })

  it('strangers beyond so many in one second are not told one by one', () => {
    const player = createBootPlayer({ maxima: { strangersPerSecond: 10 } })
    for (let number = 100; number < 200; number += 1)
      player.timeline.note(stepsOfMachine({ number }).offer(0))
    player.timeline.note(one.offer(0))
    expect(player.attempts()).toHaveLength(11)
    expect(player.timeline.of({ host: 'n01' })).toHaveLength(1)
    player.timeline.note(stepsOfMachine({ number: 200 }).offer(1))
    expect(player.attempts()).toHaveLength(12)
  })

  it('of hosts, what is over leaves before what goes on', () => {
    const player = createBootPlayer({ maxima: { attempts: 32 } })
    const [first, ...others] = hosts(60)
    if (first === undefined) throw new Error('no host')
    player.play(goodBoot(first, 0, 1).slice(0, 9))
    for (const [index, host] of others.entries()) player.play(goodBoot(host, 10 + index * 50, index + 2))
    expect(player.timeline.of({ host: 'n1' })).toMatchObject([{ bootIds: [bootIdNumber(1)] }])
    expect(player.attempts().length).toBeLessThanOrEqual(32)
  })

  it('of boots that are over long ago a head is left, which says the same', () => {
    const player = createBootPlayer({ maxima: { ended: 3 } })
    const some = hosts(10)
    for (const [index, host] of some.entries()) {
      player.play(goodBoot(host, index * 100, index + 1))
      player.timeline.takeUnsaved(100)
    }
    player.waitUntil(2000)
    const [attempt] = player.timeline.of({ host: 'n1' })
    expect(attempt).toMatchObject({
      outcome: 'booted',
      osVersion: testRelease,
      phase: 'system',
      decision: { kind: 'live' },
    })
    expect(attempt?.steps.map(({ type }) => type)).toEqual(['decided', 'reported'])
    expect(player.timeline.of({ host: 'n10' })[0]?.steps.length).toBeGreaterThan(10)
  })

  it('of boots that another one ended, too', () => {
    const player = createBootPlayer({ maxima: { ended: 2 } })
    for (let boot = 0; boot < 6; boot += 1) {
      player.play(goodBoot(one, boot * 100, boot + 1).slice(0, 12))
      player.timeline.takeUnsaved(100)
    }
    player.waitUntil(540)
    const boots = player.timeline.of({ host: 'n01' })
    expect(boots.map(({ outcome }) => outcome ?? 'open')).toEqual(['open', ...Array(5).fill('superseded')])
    expect(boots.map(({ steps }) => steps.length)).toEqual([10, 10, 10, 2, 2, 2])
  })

  it('a head is not made of what the store has not got', () => {
    const player = createBootPlayer({ maxima: { ended: 3 } })
    const some = hosts(6)
    for (const [index, host] of some.entries()) player.play(goodBoot(host, index * 100, index + 1))
    expect(player.timeline.of({ host: 'n1' })[0]?.steps.length).toBeGreaterThan(10)
    expect(player.timeline.takeUnsaved(100).filter(({ isHead }) => isHead === true)).toEqual([])
  })

  it('of one machine the last boots', () => {
    const player = createBootPlayer({ maxima: { ofMachine: 3 } })
    for (let boot = 0; boot < 6; boot += 1) player.play(goodBoot(one, boot * 100, boot + 1))
    expect(player.timeline.of({ host: 'n01' }).map(({ bootIds }) => bootIds[0])).toEqual(
      [6, 5, 4].map(bootIdNumber),
    )
    // Those that left are saved all the same.
    expect(new Set(player.timeline.takeUnsaved(100).map(({ bootId }) => bootId)).size).toBe(6)
  })

  it('of one boot a bounded number of steps, and how many are left out', () => {
    const player = createBootPlayer({ maxima: { events: 40 } })
    player.play([one.decided(0, 1)])
    for (let round = 0; round < 500; round += 1) {
      player.timeline.note(one.sent(1 + round, 1, 'kernel', { completed: false, sentBytes: round }))
    }
    const [attempt] = player.attempts()
    expect(attempt?.steps).toHaveLength(40)
    expect(attempt?.leftOut).toBe(461)
    expect(attempt?.steps[0]?.type).toBe('decided')
  })

  it('repetitions are one step with a count', () => {
    const player = createBootPlayer()
    player.play(
      Array.from({ length: 300 }, (_, index) => [
        one.entry(index * 15),
        one.decided(index * 15 + 1, index, { kind: 'wait' }),
      ]).flat(),
    )
    expect(player.attempts()[0]?.steps).toMatchObject([
      { type: 'entry-sent', count: 300 },
      { type: 'decided', count: 300 },
    ])
    expect(player.attempts()[0]?.state).toBe('waiting')
  })

  it('a text of 64 KiB is cut, and a step has 300 characters', () => {
    const player = createBootPlayer()
    const long = `\u001b[31m<b>${'x'.repeat(65_536)}`
    player.play([
      one.offer(0),
      one.tftpStart(1, long),
      one.decided(2, 1),
      one.report(3, 1, { status: 'failed', message: long, osVersion: long }),
    ])
    const [attempt] = player.attempts()
    for (const { text } of attempt?.steps ?? []) {
      expect(text.length).toBeLessThanOrEqual(300)
      expect(text).not.toMatch(/\p{Cc}/u)
    }
    expect(attempt?.osVersion?.length).toBeLessThan(2000)
    expect(JSON.stringify(player.timeline.takeUnsaved(10)).length).toBeLessThan(20_000)
  })
})

describe('what is saved', () => {
  function saved(player: ReturnType<typeof createBootPlayer>): readonly AttemptRecord[] {
    return player.timeline.takeUnsaved(1000)
  }

  it('each attempt that changed, once', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 9))
    expect(saved(player)).toMatchObject([{ host: 'n01', mac: one.mac, bootId: bootIdNumber(1) }])
    expect(saved(player)).toEqual([])
    player.play(goodBoot(one, 0, 1).slice(9))
    expect(saved(player)).toMatchObject([{ outcome: 'booted' }])
  })

  it('again, after it could not be saved, in its newest form', () => {
    const player = createBootPlayer()
    player.play([one.offer(0)])
    const batch = saved(player)
    player.play([one.tftpStart(5)])
    player.timeline.returnUnsaved(batch)
    expect(saved(player).map(({ events }) => events.length)).toEqual([2])
  })

  it('at most so many at once, hosts before strangers', () => {
    const player = createBootPlayer()
    player.play([stepsOfMachine({ number: 9 }).decided(0, 9), one.offer(1)])
    expect(player.timeline.takeUnsaved(1)).toMatchObject([{ host: 'n01' }])
    expect(player.timeline.takeUnsaved(1)).toMatchObject([{ mac: macNumber(9) }])
  })

  it('not what a stranger did who fetched nothing: anybody can make up a packet', () => {
    const player = createBootPlayer()
    const stranger = stepsOfMachine({ number: 9 })
    player.play([stranger.offer(0)])
    expect(saved(player)).toEqual([])
    player.play([stranger.tftpStart(1)])
    expect(saved(player)).toMatchObject([{ mac: stranger.mac, events: [{}, {}] }])
  })

  it('an attempt that turned out to be part of another ends in the store', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), { ...one.tftpEnd(5), mac: undefined }])
    expect(saved(player)).toHaveLength(2)
    player.play([one.entry(6), one.decided(7, 1)])
    const records = saved(player)
    expect(records).toMatchObject([{ outcome: 'superseded', events: [] }, { host: 'n01' }])
    expect(records[1]?.events).toHaveLength(4)
  })
})

describe('after a restart', () => {
  function restored(records: readonly AttemptRecord[], now: number) {
    const clock = { now }
    const timeline = createTimeline({ clock: { now: () => clock.now }, random: () => 0.5 })
    timeline.restore(records, now)
    return { timeline, clock }
  }

  function records(count: number): readonly AttemptRecord[] {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, count))
    return JSON.parse(JSON.stringify(player.timeline.takeUnsaved(10)))
  }

  it('a boot goes on where it was', () => {
    const { timeline } = restored(records(12), testStart + 20_000)
    for (const event of goodBoot(one, 0, 1).slice(12)) timeline.note(event)
    timeline.settle(testStart + 41_000)
    expect(timeline.attempts()).toMatchObject([{ outcome: 'booted', steps: { length: 14 } }])
  })

  it('a machine that nobody could hear has its full time again', () => {
    const { timeline, clock } = restored(records(12), testStart + hour * 1000)
    clock.now += 60_000
    timeline.settle(clock.now)
    expect(timeline.attempts()).toMatchObject([{ state: 'running' }])
    for (let step = 0; step < 36; step += 1) {
      clock.now += 10_000
      timeline.settle(clock.now)
    }
    expect(timeline.attempts()).toMatchObject([
      { state: 'stuck', diagnosis: { code: 'silent-after-kernel' } },
    ])
  })

  it('what was over is not told again', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1))
    const overs: string[] = []
    const timeline = createTimeline({
      clock: { now: player.now },
      random: () => 0.5,
      listeners: { onOver: ({ id }) => overs.push(id), onChange: (id) => overs.push(id) },
    })
    timeline.restore(player.timeline.takeUnsaved(10), player.now())
    timeline.settle(player.now() + 1000)
    expect(overs).toEqual([])
    expect([...timeline.newest()]).toMatchObject([{ outcome: 'booted' }])
  })

  it('a report that came later than the row counts', () => {
    const { timeline } = restored(records(20), testStart + 60_000)
    timeline.note(one.report(40, 1))
    timeline.settle(testStart + 61_000)
    expect(timeline.attempt(bootIdNumber(1))).toMatchObject({ outcome: 'booted' })
  })

  it('it still knows how long this host takes', () => {
    const player = createBootPlayer()
    for (let boot = 0; boot < 4; boot += 1) player.play(goodBoot(one, boot * 100, boot + 1))
    const saved = player.timeline.takeUnsaved(10)
    const { timeline, clock } = restored(saved, player.now())
    const next = goodBoot(one, 1000, 9).slice(0, 20)
    clock.now = testStart + 1_034_000
    for (const event of next) timeline.note(event)
    timeline.settle(clock.now)
    expect(timeline.attempt(bootIdNumber(9))?.phases.at(-1)).toMatchObject({
      phase: 'system',
      limitMs: 300_000,
    })
  })
})

describe('a clock that jumps', () => {
  const lasts = (player: ReturnType<typeof createBootPlayer>) =>
    player
      .attempts()
      .flatMap(({ phases }) => phases.map(({ startedAt, endedAt = startedAt }) => endedAt - startedAt))

  it.each([-10 * 365 * 24 * hour, -hour, -60])(
    'by %i s in the middle of a boot: the boot ends as it should',
    (jump) => {
      const player = createBootPlayer()
      player.play(goodBoot(one, 0, 1).slice(0, 12))
      player.setClock(testStart + 12_000 + jump * 1000)
      for (const event of goodBoot(one, jump, 1).slice(12)) player.timeline.note(event)
      player.setClock(testStart + 41_000 + jump * 1000)
      expect(player.attempts()).toMatchObject([{ outcome: 'booted' }])
      expect(Math.min(...lasts(player))).toBeGreaterThanOrEqual(0)
      expect(player.diagnoses).toEqual([])
    },
  )

  it('back by a year: who is silent from then on is stuck in time, and lost', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 12))
    const back = testStart - 365 * 24 * hour * 1000
    player.setClock(back)
    for (let second = 0; second < 330; second += 10) player.setClock(back + second * 1000)
    expect(player.attempts()).toMatchObject([{ state: 'stuck', diagnosis: { code: 'silent-after-kernel' } }])
    for (let second = 330; second < 3 * hour; second += 20) player.setClock(back + second * 1000)
    expect(player.attempts()).toMatchObject([{ outcome: 'lost' }])
  })

  it('ahead by a day: nobody is stuck or lost by that', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 12))
    player.setClock(testStart + 24 * hour * 1000)
    player.setClock(testStart + 24 * hour * 1000 + 5000)
    expect(player.attempts()).toMatchObject([{ state: 'running' }])
    expect(player.diagnoses).toEqual([])
    for (const event of goodBoot(one, 24 * hour, 1).slice(12)) player.timeline.note(event)
    player.setClock(testStart + 24 * hour * 1000 + 45_000)
    expect(player.attempts()).toMatchObject([{ outcome: 'booted' }])
  })
})

describe('what is repeated', () => {
  it('is told once a second, and something new at once', () => {
    const player = createBootPlayer()
    player.timeline.note(one.offer(0))
    player.timeline.settle(testStart)
    for (let ms = 100; ms <= 900; ms += 100) {
      player.timeline.note(one.offer(ms / 1000))
      player.timeline.settle(testStart + ms)
    }
    expect(player.changes).toHaveLength(1)
    player.timeline.settle(testStart + 1_000)
    expect(player.changes).toHaveLength(2)
    player.timeline.note(one.tftpStart(1.1))
    player.timeline.settle(testStart + 1_100)
    expect(player.changes).toHaveLength(3)
  })

  it('is saved after ten seconds, also when nothing came since, and before the service ends', () => {
    const player = createBootPlayer()
    const counts = () => player.timeline.takeUnsaved(10).map(({ events }) => events[0]?.count)
    player.play([one.offer(0)])
    expect(counts()).toEqual([1])
    player.play([one.offer(1), one.offer(2)])
    player.waitUntil(9)
    expect(counts()).toEqual([])
    player.waitUntil(13)
    expect(counts()).toEqual([3])
    player.play([one.offer(14)])
    expect(counts()).toEqual([])
    player.timeline.keepRepeats()
    expect(counts()).toEqual([4])
  })

  it('is saved with the next step', () => {
    const player = createBootPlayer()
    player.play([one.offer(0)])
    player.timeline.takeUnsaved(10)
    player.play([one.offer(1), one.tftpStart(2)])
    expect(player.timeline.takeUnsaved(10)).toMatchObject([{ events: [{ count: 2 }, { count: 1 }] }])
    player.waitUntil(20)
    expect(player.timeline.takeUnsaved(10)).toEqual([])
  })

  it('a firmware that asks DHCP without end is its first packet, its last ones and a number', () => {
    const player = createBootPlayer()
    for (let round = 0; round < 500; round += 1) player.timeline.note(one.offer(round / 10, { xid: round }))
    const [attempt] = player.attempts()
    expect(attempt?.steps).toHaveLength(17)
    expect(attempt?.leftOut).toBe(483)
    expect(attempt?.steps[0]?.at).toBe(testStart)
    expect(attempt?.steps.at(-1)?.at).toBe(testStart + 49_900)
  })
})

describe('one look', () => {
  it('takes so many of those that changed, hosts first, and says that there are more', () => {
    const player = createBootPlayer()
    for (let number = 1000; number < 2000; number += 1) {
      player.timeline.note(stepsOfMachine({ number, address: '192.0.2.9' }).offer(0))
    }
    for (const host of hosts(600)) player.timeline.note(host.offer(0))
    const told: number[] = []
    let before = 0
    for (let isMore = true; isMore; before = player.changes.length) {
      isMore = player.timeline.settle(testStart + 250)
      told.push(player.changes.length - before)
    }
    expect(told).toEqual([500, 500, 350])
    expect(player.timeline.of({ host: 'n600' })).toMatchObject([{ state: 'running' }])
    // Unknown machines wait for the next quarter of a second.
    player.timeline.settle(testStart + 500)
    expect(player.changes).toHaveLength(1_600)
  })

  it('at those whose time has come goes on where the last one ended', () => {
    const player = createBootPlayer()
    for (const [index, host] of hosts(600).entries()) {
      player.timeline.note(host.offer(0))
      player.timeline.note(host.decided(0, index))
    }
    while (player.timeline.settle(testStart + 250));
    expect(player.changes).toHaveLength(600)
    let looks = 0
    for (let second = 20; player.changes.length === 600; second += 20) {
      looks = 1
      while (player.timeline.settle(testStart + second * 1000)) looks += 1
    }
    expect(looks).toBe(3)
    expect(player.diagnoses).toHaveLength(600)
  })
})

describe('who is told what', () => {
  it('a change of each attempt once in one look', () => {
    const player = createBootPlayer()
    for (const event of goodBoot(one, 0, 1).slice(0, 9)) player.timeline.note(event)
    player.waitUntil(10)
    expect(player.changes).toHaveLength(1)
    player.waitUntil(20)
    expect(player.changes).toHaveLength(1)
  })

  it('that it is over once, whatever comes later', () => {
    const player = createBootPlayer()
    player.play([...goodBoot(one, 0, 1), one.report(41, 1, { isKnown: true }), one.ignition(42, 1)])
    player.waitUntil(5 * hour)
    expect(player.overs).toHaveLength(1)
  })

  it('that it was refused, after ten minutes', () => {
    const player = createBootPlayer()
    player.play([one.decided(0, 1, { kind: 'hold', expects: [], files: [] })])
    player.waitUntil(599)
    expect(player.attempts()).toMatchObject([{ state: 'running' }])
    player.waitUntil(602)
    expect(player.attempts()).toMatchObject([{ outcome: 'held', endedAt: testStart + 600_000 }])
    expect(player.diagnoses).toEqual([])
  })
})
