import { expect, test } from 'vitest'
import { createLog, type LogDestination } from '../../src/telemetry/create-log.ts'

function recordingDestination(isTTY = false): LogDestination & { lines: string[] } {
  const lines: string[] = []
  return { lines, isTTY, write: (text) => lines.push(text) }
}

test('anywhere but on a terminal a line is one JSON object with level, time and fields', () => {
  const destination = recordingDestination()
  createLog({ level: 'info', destination }).info({ stream: 'fcos-stable', seen: 2 }, 'stream refreshed')
  expect(destination.lines).toHaveLength(1)
  const line = JSON.parse(destination.lines[0] ?? '')
  expect(line).toMatchObject({ level: 'info', stream: 'fcos-stable', seen: 2, msg: 'stream refreshed' })
  expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT/)
  expect(Object.keys(line).sort()).toEqual(['level', 'msg', 'seen', 'stream', 'time'])
})

test('on a terminal a line is text, and what a client sent cannot move the cursor', () => {
  const destination = recordingDestination(true)
  const log = createLog({ level: 'info', destination, color: false })
  log.warn({ serial: '\u001b[2J\u001b[Hroot login:\nforged' }, 'boot decided')
  expect(destination.lines).toHaveLength(1)
  const [line = ''] = destination.lines
  expect(line).toContain('WARN')
  expect(line).toContain('boot decided')
  expect(line).toContain('\\x1b[2J')
  expect(line).not.toContain('\u001b')
  expect(line.trimEnd()).not.toContain('\n')
})

test('format json wins over a terminal, format text works without one', () => {
  const terminal = recordingDestination(true)
  createLog({ level: 'info', format: 'json', destination: terminal }).info({}, 'a')
  expect(JSON.parse(terminal.lines[0] ?? '').msg).toBe('a')
  const pipe = recordingDestination()
  createLog({ level: 'info', format: 'text', destination: pipe }).info({ x: 1 }, 'b')
  expect(pipe.lines[0]).toMatch(/INFO.*b/)
})

test('lines below the level are not written, and the level can change while running', () => {
  const destination = recordingDestination()
  const log = createLog({ level: 'warn', destination })
  log.info({}, 'quiet')
  log.setLevel('debug')
  log.debug({}, 'loud')
  log.setLevel('silent')
  log.error({}, 'nothing')
  expect(destination.lines.map((line) => JSON.parse(line).msg)).toEqual(['loud'])
})

test('a field called msg does not replace the message', () => {
  const destination = recordingDestination()
  createLog({ level: 'info', destination }).info({ msg: 'forged' }, 'real')
  const [line = ''] = destination.lines
  expect(JSON.parse(line).msg).toBe('real')
})
