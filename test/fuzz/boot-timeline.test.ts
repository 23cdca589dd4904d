import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTimeline } from '../../src/boot/timeline/create-timeline.ts'
import { attemptOutcomes, attemptStates, type BootAttempt } from '../../src/core/boot-attempt.ts'
import { defaultLimits } from '../../src/core/boot-attempts/phase-limits.ts'
import { reduceAttempt } from '../../src/core/boot-attempts/reduce-attempt.ts'
import { stepText } from '../../src/core/boot-attempts/step-text.ts'
import type { BootEvent } from '../../src/core/boot-event.ts'
import { goodBoot, type MachineSteps, stepsOfMachine, testStart } from '../fakes/boot-steps.ts'

const runs = process.env.SOAK === undefined ? 300 : 20_000
const day = 24 * 3600 * 1000
const text = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('snponly.efi', 'ipxe.efi', 'grub.cfg', 'live-rootfs.img', 'live-kernel'),
  },
  fc.string({ maxLength: 200 }),
  fc.constant(`\u001b[2J\u202e<script>${'x'.repeat(5000)}`),
)
const size = fc.oneof(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER))
const few = fc.integer({ min: 1, max: 4 })

/** One step of one of a few machines, at any time: nothing about it need make sense. */
const step: fc.Arbitrary<BootEvent> = fc
  .record({
    machine: few,
    host: fc.option(fc.constantFrom('n01', 'n02'), { nil: undefined }),
    address: fc.constantFrom('192.0.2.51', '192.0.2.52', '2001:db8::1'),
    seconds: fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: -100_000, max: 100_000 })),
    id: few,
    xid: few,
    which: fc.integer({ min: 0, max: 19 }),
    stage: fc.constantFrom('firmware', 'ipxe', 'other'),
    via: fc.constantFrom('tftp', 'http'),
    kind: fc.constantFrom('live', 'install', 'local', 'wait', 'hold', 'chainload', 'ignore'),
    role: fc.constantFrom('kernel', 'initramfs', 'rootfs', 'disk', 'loader', 'other', 'constructor'),
    isWhole: fc.boolean(),
    size,
    text,
  })
  .map(({ machine, host, address, seconds, which, id, xid, stage, via, kind, role, isWhole, size, text }) => {
    const steps: MachineSteps = stepsOfMachine({ number: machine, host, address })
    const asked = { stage, via, xid } as const
    const made: readonly (() => BootEvent)[] = [
      () => steps.offer(seconds, asked),
      () => steps.acknowledge(seconds, asked, { address, role: isWhole ? 'server' : 'boot-server' }),
      () => steps.acknowledge(seconds, { ...asked, bootServerType: 0 }, { role: 'boot-server' }),
      () => steps.chooses(seconds, asked),
      () => steps.chooses(seconds, asked, { chosen: undefined, address: undefined }),
      () => steps.troubled(seconds, 'loop-suspected'),
      () => steps.troubled(seconds, 'offers-unanswered'),
      () => ({ ...steps.tftpStart(seconds, text), mac: isWhole ? steps.mac : undefined }),
      () => ({
        ...steps.tftpEnd(seconds, text, { isWhole, sentBytes: size }),
        mac: isWhole ? steps.mac : undefined,
      }),
      () => ({ type: 'tftp-refused', at: testStart + seconds * 1000, address, file: text, reason: text }),
      () => steps.entry(seconds, text),
      () => steps.decided(seconds, id, { kind, expects: isWhole ? [] : ['ignition', 'report'] }),
      () => steps.decided(seconds, id, { kind, mac: undefined, host: undefined, files: undefined }),
      () =>
        steps.sent(seconds, id, role, { completed: isWhole, sentBytes: size, totalBytes: size, name: text }),
      () =>
        steps.sent(seconds, id, role, { bootId: undefined, status: isWhole ? 206 : 404, sentBytes: size }),
      () => steps.looks(seconds, id, role),
      () => steps.progress(seconds, id, role, size),
      () => steps.ignition(seconds, id, { system: isWhole ? 'live' : 'installed' }),
      () => steps.refused(seconds, isWhole ? id : undefined),
      () =>
        steps.report(seconds, id, {
          status: kind === 'hold' ? 'failed' : 'booted',
          message: text,
          osVersion: text,
        }),
    ]
    return made[which]?.() ?? steps.offer(seconds)
  })

const clockMove = fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: -day, max: day }))

function check(attempt: BootAttempt): void {
  expect(attemptStates).toContain(attempt.state)
  if (attempt.state === 'over') {
    expect(attemptOutcomes).toContain(attempt.outcome)
    expect(attempt.endedAt).toBeGreaterThanOrEqual(attempt.startedAt)
  } else expect(attempt.outcome).toBeUndefined()
  expect(attempt.lastAt).toBeGreaterThanOrEqual(attempt.startedAt)
  for (const { startedAt, endedAt = startedAt } of attempt.phases)
    expect(endedAt).toBeGreaterThanOrEqual(startedAt)
  for (const [index, { startedAt }] of attempt.phases.entries()) {
    if (index > 0) expect(startedAt).toBe(attempt.phases[index - 1]?.endedAt)
  }
  for (const { at, lastAt, text: said, count } of attempt.steps) {
    expect(at).toBeGreaterThanOrEqual(attempt.startedAt)
    expect(lastAt).toBeGreaterThanOrEqual(at)
    expect(count).toBeGreaterThan(0)
    expect(said.length).toBeLessThanOrEqual(300)
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
}

describe('the timeline, whatever happens in whatever order', () => {
  it('never throws, never tells a negative time, tells each end once, and comes to an end', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, clockMove), { maxLength: 80 }), (moves) => {
        let now = testStart
        const ends = new Map<string, number>()
        const timeline = createTimeline({
          clock: { now: () => now },
          random: Math.random,
          listeners: { onOver: ({ id }) => ends.set(id, (ends.get(id) ?? 0) + 1), onDiagnosis: check },
          maxima: { attempts: 40, ended: 5, events: 20 },
        })
        for (const [event, move] of moves) {
          timeline.note({ ...event, at: now + (event.at - testStart) })
          now += move
          timeline.settle(now)
          for (const attempt of timeline.newest()) check(attempt)
        }
        for (let step = 0; step < 24 * 60; step += 1) {
          now += 20_000
          timeline.settle(now)
        }
        for (const attempt of timeline.attempts()) {
          check(attempt)
          expect(attempt.state).toBe('over')
        }
        expect([...ends.values()].filter((times) => times > 1)).toEqual([])
        const saved = JSON.parse(JSON.stringify(timeline.takeUnsaved(1000)))
        const next = createTimeline({ clock: { now: () => now }, random: Math.random })
        next.restore(saved, now)
        next.settle(now)
        for (const attempt of next.attempts()) check(attempt)
      }),
      { numRuns: runs / 3, interruptAfterTimeLimit: 20_000, endOnFailure: true },
    )
  })

  it('any part of a good boot, in any order, is one that can be told', () => {
    const events = goodBoot(stepsOfMachine({ number: 1, host: 'n01' }), 0, 1)
    fc.assert(
      fc.property(fc.shuffledSubarray([...events]), (some) => {
        const record = {
          id: 'x' as never,
          startedAt: some[0]?.at ?? 0,
          lastAt: some.at(-1)?.at ?? 0,
          events: some.map((event) => ({ event, count: 1, lastAt: event.at })),
          leftOut: 0,
        }
        check(reduceAttempt(record, { now: testStart + day, limits: defaultLimits }))
      }),
      { numRuns: runs },
    )
  })

  it('the same events at the same time are the same attempt', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 0, max: day }), (some, later) => {
        const record = {
          id: 'x' as never,
          startedAt: testStart,
          lastAt: testStart,
          events: some.map((event) => ({ event, count: 1, lastAt: event.at })),
          leftOut: 0,
        }
        const input = { now: testStart + later, limits: defaultLimits }
        expect(JSON.stringify(reduceAttempt(record, input))).toBe(
          JSON.stringify(reduceAttempt(record, input)),
        )
      }),
      { numRuns: runs },
    )
  })

  it('every step is one sentence that can be shown anywhere', () => {
    fc.assert(
      fc.property(step, (event) => {
        const said = stepText(event)
        expect(said.length).toBeLessThanOrEqual(300)
        expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }),
      { numRuns: runs },
    )
  })
})
