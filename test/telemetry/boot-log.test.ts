import { describe, expect, test } from 'vitest'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { reason } from '../../src/core/reason.ts'
import { bootLogLine, createBootLog } from '../../src/telemetry/boot-log.ts'
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
