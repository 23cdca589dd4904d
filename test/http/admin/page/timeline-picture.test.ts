import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bootPhases } from '../../../../src/core/boot-attempt.ts'
import { timelinePicture } from '../../../../src/http/admin/page/timeline-picture.ts'
import type { BootDetail } from '../../../../src/http/admin/schemas/boots.ts'
import { sampleBootDetail } from '../../../fakes/boot-operations.ts'

const start = Date.parse(sampleBootDetail.startedAt)
const iso = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
const phase = (name: BootDetail['phase'], from: number, to?: number): BootDetail['phases'][number] => ({
  phase: name,
  startedAt: iso(from),
  ...(to !== undefined && { endedAt: iso(to) }),
  durationMs: ((to ?? from) - from) * 1_000,
})
const bootWith = (change: Partial<BootDetail>): BootDetail => ({ ...sampleBootDetail, steps: [], ...change })

test('each phase is a lane on one scale; one that goes on reaches to now', () => {
  const boot = bootWith({ phases: [phase('dhcp', 0, 4), phase('rootfs', 30)], lastAt: iso(35) })
  const { lanes } = timelinePicture(boot, start + 40_000)
  expect(lanes.map(({ word, after, took, tone }) => [word, after, took, tone])).toEqual([
    ['DHCP', '+0 ms', '4.0 s', 'done'],
    ['Rootfs', '+30.0 s', '10.0 s', 'busy'],
  ])
  expect(lanes.map(({ spans }) => spans)).toEqual([[{ x: '0%', width: '10%' }], [{ x: '75%', width: '25%' }]])
})

test('a phase that came twice is one lane with two spans', () => {
  const phases = [phase('script', 0, 2), phase('kernel', 2, 4), phase('script', 6, 10)]
  const { lanes } = timelinePicture(
    bootWith({ phases, state: 'over', outcome: 'lost', lastAt: iso(10) }),
    start,
  )
  expect(lanes.map(({ word, took, spans }) => [word, took, spans.length])).toEqual([
    ['Script', '6.0 s', 2],
    ['Kernel', '2.0 s', 1],
  ])
})

test('a phase of a few milliseconds is still seen, also at the very end', () => {
  const phases = [phase('dhcp', 0, 0.003), phase('system', 3_600, 3_600.001)]
  const { lanes } = timelinePicture(
    bootWith({ phases, state: 'over', outcome: 'booted', lastAt: iso(3_600) }),
    start,
  )
  expect(lanes.flatMap(({ spans }) => spans.map(({ width }) => Number.parseFloat(width)))).toEqual([0.6, 0.6])
})

test('the phase in which it is stuck is told apart, and how long it may take', () => {
  const [open] = [{ ...phase('rootfs', 0), limitMs: 120_000 }]
  const diagnosis = { code: 'overdue', text: '', remedy: '', at: iso(1) } as const
  const boot = bootWith({ phases: [open], phase: 'rootfs', state: 'stuck', diagnosis })
  expect(timelinePicture(boot, start + 130_000).lanes).toMatchObject([{ tone: 'bad', limit: '2 min' }])
})

test('the scale has a few round numbers', () => {
  const words = (seconds: number) =>
    timelinePicture(
      bootWith({ phases: [phase('dhcp', 0, seconds)], state: 'over', outcome: 'lost', lastAt: iso(seconds) }),
      start,
    ).ticks.map(({ word }) => word)
  expect(words(55)).toEqual(['0', '10 s', '20 s', '30 s', '40 s', '50 s'])
  expect(words(0.044)).toEqual(['0', '10 ms', '20 ms', '30 ms', '40 ms'])
  expect(words(0.007)).toEqual(['0', '2 ms', '4 ms', '6 ms'])
  expect(words(0.45)).toEqual(['0', '0.1 s', '0.2 s', '0.3 s', '0.4 s'])
  expect(words(7_000)).toEqual(['0', '20 min', '40 min', '1 h', '1 h 20 min', '1 h 40 min'])
})

test('whatever the clocks did, everything lies within the picture', () => {
  const at = fc.double({ min: -1e6, max: 1e7, noNaN: true })
  const anyPhase = fc
    .record({ phase: fc.constantFrom(...bootPhases), from: at, to: fc.option(at, { nil: undefined }) })
    .map(({ phase: name, from, to }) => phase(name, from, to))
  fc.assert(
    fc.property(
      fc.array(anyPhase, { maxLength: 12 }),
      at,
      at,
      fc.constantFrom('running', 'over'),
      (phases, last, now, state) => {
        const steps = phases.map(({ phase: name, startedAt }) => ({
          at: startedAt,
          lastAt: startedAt,
          count: 1,
          offsetMs: 0,
          phase: name,
          type: 'x',
          text: '',
          tone: 'normal' as const,
        }))
        const { lanes, ticks } = timelinePicture(
          bootWith({ phases, steps, state, lastAt: iso(last) }),
          start + now * 1_000,
        )
        const places = [
          ...lanes.flatMap(({ spans }) =>
            spans.flatMap(({ x, width }) => [
              x,
              width,
              `${Number.parseFloat(x) + Number.parseFloat(width)}%`,
            ]),
          ),
          ...lanes.flatMap(({ marks }) => marks.map(({ x }) => x)),
          ...ticks.map(({ x }) => x),
        ].map((text) => Number.parseFloat(text))
        for (const place of places) expect(place >= 0 && place <= 100.01).toBe(true)
      },
    ),
  )
})
