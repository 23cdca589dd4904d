import { describe, expect, test } from 'vitest'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { reason } from '../../src/core/reason.ts'
import { bootLogLine, createBootLog } from '../../src/telemetry/boot-log.ts'

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
  createBootLog({ log })(decided)
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
