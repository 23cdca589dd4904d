import { describe, expect, test } from 'vitest'
import type { AttemptId, BootAttempt } from '../../src/core/boot-attempt.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { reason } from '../../src/core/reason.ts'
import { type BootLog, bootLogLine, createBootLog } from '../../src/telemetry/boot-log.ts'
import { createManualTime } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const decided = {
  type: 'decided',
  at: 0,
  bootId: 'AAAAAAAAAAAAAAAAAAAAAA' as BootId,
  kind: 'live',
  reason: 'follows-current',
  reasons: [reason('follows-current', { stream: 'fcos-stable', release: '44.20260707.3.1' })],
  mac: '52:54:00:ab:cd:ef' as MacAddress,
} satisfies BootEvent
const sent = {
  type: 'artifact-sent',
  at: 0,
  role: 'kernel',
  method: 'GET',
  status: 200,
  sentBytes: 10,
  completed: true,
} as BootEvent

describe('field case 165: what is normal stays below warn', () => {
  test.each([
    ['a decision', decided, 'info', 'boot decided'],
    ['an admin hold', { ...decided, kind: 'hold', reason: 'mode-hold' }, 'info', 'boot decided'],
    ['a refusal', { ...decided, kind: 'hold', reason: 'profile-missing' }, 'warn', 'boot decided'],
    ['a whole file', sent, 'info', 'artifact sent'],
    ['an abort', { ...sent, completed: false, sentBytes: 1 }, 'info', 'artifact transfer ended early'],
    ['a probe', { ...sent, method: 'HEAD', sentBytes: 0 }, 'debug', 'artifact request answered'],
    ['a range', { ...sent, status: 206 }, 'debug', 'artifact request answered'],
    ['still being fetched', { ...sent, status: 503 }, 'debug', 'artifact request answered'],
  ])('%s', (_, event, level, message) => {
    expect(bootLogLine(event as BootEvent)).toMatchObject({ level, message })
  })
})

test('G10 the facts of the event are the fields of the line, with the reasons in words', () => {
  const lines: unknown[] = []
  const record = (level: string) => (fields: object, message: string) => {
    lines.push([level, fields, message])
  }
  const log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }
  const time = createManualTime()
  createBootLog({ log, clock: time, timers: time }).write(decided)
  expect(lines).toEqual([
    [
      'info',
      {
        bootId: 'AAAAAAAAAAAAAAAAAAAAAA',
        kind: 'live',
        reason: 'follows-current',
        reasons: ['follows stream fcos-stable: current is 44.20260707.3.1'],
        mac: '52:54:00:ab:cd:ef',
      },
      'boot decided',
    ],
  ])
})

describe('a flood of decisions', () => {
  const of = (index: number, more: Partial<BootEvent> = {}) =>
    ({ ...decided, mac: `52:54:00:00:${index}` as MacAddress, ...more }) as BootEvent

  test('is written in full up to a bound, then counted, with the first line of each known machine', async () => {
    const time = createManualTime()
    const log = createRecordingLog()
    const bootLog = createBootLog({ log, clock: time, timers: time })
    for (let round = 0; round < 100; round += 1) {
      for (let index = 0; index < 100; index += 1) bootLog.write(of(index, { host: `n${index}` }))
    }
    const macs = new Set(log.lines.map(({ fields }) => (fields as { mac: string }).mac))
    expect([log.lines.length, macs.size]).toEqual([100, 100])
    await time.advance(1000)
    expect(log.lines.at(-1)).toMatchObject({
      level: 'info',
      fields: { lines: { 'boot decided: live, follows-current': 9900 } },
    })
    bootLog.write(of(1, { host: 'n1' }))
    expect(log.lines).toHaveLength(102)
  })

  test('of machines that nobody knows is bounded, however many there seem to be', () => {
    const time = createManualTime()
    const log = createRecordingLog()
    const bootLog = createBootLog({ log, clock: time, timers: time })
    for (let index = 0; index < 10_000; index += 1) bootLog.write(of(index))
    expect(log.lines).toHaveLength(250)
    bootLog.flush()
    expect(log.lines.at(-1)?.fields).toMatchObject({
      lines: { 'boot decided: live, follows-current': 9750 },
    })
  })

  test('hides no decision that differs from the last one of its machine', () => {
    const time = createManualTime()
    const log = createRecordingLog()
    const bootLog = createBootLog({ log, clock: time, timers: time })
    for (let round = 0; round < 1000; round += 1) bootLog.write(of(1, { host: 'n1' }))
    bootLog.write(of(1, { host: 'n1', kind: 'hold', reason: 'profile-missing' } as Partial<BootEvent>))
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { kind: 'hold' } })
  })
})

const attempt = {
  id: 'm0abcdefgh12345' as AttemptId,
  bootIds: ['AAAAAAAAAAAAAAAAAAAAAA' as BootId, 'BBBBBBBBBBBBBBBBBBBBBB' as BootId],
  host: 'n01',
  mac: '52:54:00:ab:cd:ef' as MacAddress,
  address: '192.0.2.55',
  startedAt: 1_000,
  lastAt: 61_000,
  endedAt: 61_000,
  state: 'over',
  outcome: 'booted',
  phase: 'system',
  phases: [
    { phase: 'dhcp', startedAt: 1_000, endedAt: 3_000 },
    { phase: 'rootfs', startedAt: 3_000, endedAt: 43_000 },
    { phase: 'dhcp', startedAt: 43_000, endedAt: 43_500 },
    { phase: 'system', startedAt: 43_500 },
  ],
  steps: [],
  leftOut: 0,
  osVersion: '44.20260707.3.1',
} satisfies BootAttempt

describe('a boot as a whole', () => {
  const setUp = () => {
    const time = createManualTime()
    const log = createRecordingLog()
    return { log, bootLog: createBootLog({ log, clock: time, timers: time }) }
  }

  test('is one line when it is over: who, the outcome, how long each phase took', () => {
    const { log, bootLog } = setUp()
    bootLog.onOver(attempt)
    expect(log.lines).toMatchObject([
      {
        level: 'info',
        message: 'boot is over',
        fields: {
          bootId: 'BBBBBBBBBBBBBBBBBBBBBB',
          mac: '52:54:00:ab:cd:ef',
          host: 'n01',
          attempt: attempt.id,
          outcome: 'booted',
          durationMs: 60_000,
          phasesMs: 'dhcp=2500 rootfs=40000',
          osVersion: '44.20260707.3.1',
        },
      },
    ])
  })

  test.each([
    ['lost', 'warn'],
    ['failed', 'info'],
    ['held', 'info'],
    ['superseded', 'info'],
    ['local', 'info'],
  ] as const)('that ended as %s is told at %s', (outcome, level) => {
    const { log, bootLog } = setUp()
    const diagnosis = { code: 'overdue', text: 'Nothing came.', remedy: 'Look.', at: 5 } as const
    bootLog.onOver({ ...attempt, outcome, diagnosis })
    expect(log.lines).toMatchObject([{ level, fields: { outcome } }])
  })

  test('that was lost without anything wrong is no warning: it asked once or twice and left', () => {
    const { log, bootLog } = setUp()
    bootLog.onOver({ ...attempt, outcome: 'lost' })
    expect(log.lines).toMatchObject([{ level: 'info', fields: { outcome: 'lost' } }])
  })

  test('says what is wrong with it and what to do', () => {
    const { log, bootLog } = setUp()
    bootLog.onDiagnosis(attempt, { code: 'loader-loop', text: 'It came back.', remedy: 'Look.', at: 5 })
    expect(log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'a boot does not go on',
        fields: { mac: attempt.mac, pattern: 'loader-loop', what: 'It came back.', todo: 'Look.' },
      },
    ])
  })

  const { host: _, ...stranger } = attempt
  const standsStill = { code: 'offers-not-merged', text: 'It took nothing.', remedy: 'Look.', at: 5 } as const

  test.each([
    ['ended', 'boot is over: booted', (log: BootLog, of: BootAttempt) => log.onOver(of)],
    [
      'stand still',
      'a boot does not go on: offers-not-merged',
      (log: BootLog, of: BootAttempt) => log.onDiagnosis(of, standsStill),
    ],
  ] as const)(
    'of a thousand unknown machines that %s: a few lines, the rest is counted',
    (_what, counted, tell) => {
      const { log, bootLog } = setUp()
      for (let index = 0; index < 1_000; index += 1) {
        tell(bootLog, { ...stranger, mac: `52:54:00:00:00:${index}` as MacAddress })
      }
      expect(log.lines).toHaveLength(20)
      bootLog.flush()
      expect(log.lines.at(-1)?.fields).toEqual({ lines: { [counted]: 980 } })
    },
  )

  test('a host has its line in a flood of unknown machines', () => {
    const { log, bootLog } = setUp()
    for (let index = 0; index < 1_000; index += 1) {
      bootLog.onDiagnosis({ ...stranger, mac: `52:54:00:00:00:${index}` as MacAddress }, standsStill)
    }
    bootLog.onDiagnosis(attempt, standsStill)
    expect(log.lines.at(-1)).toMatchObject({ fields: { host: 'n01', pattern: 'offers-not-merged' } })
  })
})

describe('a line about a machine', () => {
  test.each([
    ['by its boot', { ...sent, bootId: decided.bootId }],
    ['by its address', { ...sent, address: '192.0.2.55' }],
    [
      'by the address of its first script',
      { type: 'entry-sent', at: 0, name: 'boot.ipxe', address: '192.0.2.55' },
    ],
  ])('has its MAC, known %s', (_, event) => {
    const time = createManualTime()
    const log = createRecordingLog()
    const macOf = ({ bootId, address }: { bootId?: string; address?: string }) =>
      bootId === decided.bootId || address === '192.0.2.55' ? decided.mac : undefined
    createBootLog({ log, clock: time, timers: time, macOf }).write(event as BootEvent)
    expect(log.lines).toMatchObject([{ fields: { mac: decided.mac } }])
  })

  test('has the trace that it belongs to', () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    expect(bootLogLine({ ...decided, trace })?.fields).toMatchObject({ trace })
    expect(bootLogLine({ ...sent, trace } as BootEvent)?.fields).toMatchObject({ trace })
  })
})
