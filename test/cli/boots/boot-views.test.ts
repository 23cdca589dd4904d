import { describe, expect, test } from 'vitest'
import { jsonView, lineView, screenView } from '../../../src/cli/boots/boot-views.ts'
import type { CliStream } from '../../../src/cli/context.ts'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import { sampleBootDetail, stuckBoot } from '../../fakes/boot-operations.ts'

function recorder(size: { columns?: number; rows?: number } = {}) {
  const written: string[] = []
  const stream: CliStream & { columns?: number; rows?: number } = {
    isTTY: true,
    ...size,
    write: (text) => written.push(String(text)),
  }
  return { written, stream }
}

const further: BootDetail = {
  ...sampleBootDetail,
  transfer: { role: 'rootfs', sentBytes: 1, totalBytes: 2, percent: 50, isDone: false },
}

describe('the screen', () => {
  test('takes the other screen of the terminal once, draws over itself, and gives all of it back', () => {
    const { written, stream } = recorder({ columns: 60, rows: 20 })
    const view = screenView(stream)
    view.show(sampleBootDetail)
    view.show(further)
    view.end()
    view.end()
    expect(written).toHaveLength(3)
    expect(written[0]?.startsWith('\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[H')).toBe(true)
    expect(written[1]?.startsWith('\u001b[H')).toBe(true)
    expect(written[2]).toBe('\u001b[?7h\u001b[?25h\u001b[?1049l')
  })

  test('a terminal that was never drawn on is left alone', () => {
    const { written, stream } = recorder()
    screenView(stream).end()
    expect(written).toEqual([])
  })

  test('fits the window as it is now, after each change of its size', () => {
    const { written, stream } = recorder({ columns: 100, rows: 30 })
    const view = screenView(stream)
    for (const [columns, rows] of [
      [100, 30],
      [20, 5],
      [0, 0],
      [20, 1],
    ]) {
      Object.assign(stream, { columns, rows })
      view.show(sampleBootDetail)
      const lines = (written.at(-1) ?? '').replace(/\p{Cc}\[\??\d*[A-Za-z]/gu, '').split('\r\n')
      expect(lines.length).toBeLessThanOrEqual(Math.max(2, rows || 24))
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns || 80)
    }
  })

  test('what is told stands below the boot until it moves', () => {
    const { written, stream } = recorder({ columns: 60, rows: 20 })
    const view = screenView(stream)
    view.show(sampleBootDetail)
    view.tell('the service does not answer\u001b[2J')
    expect(written.at(-1)).toContain('the service does not answer\\x1b[2J')
    view.show(sampleBootDetail)
    expect(written.at(-1)).not.toContain('does not answer')
  })
})

describe('lines', () => {
  test('each step, each tenth part of a file and each diagnosis is told once', () => {
    const { written, stream } = recorder()
    const view = lineView(stream, () => {})
    view.show(sampleBootDetail)
    view.show(sampleBootDetail)
    view.show(further)
    view.show({ ...further, ...(stuckBoot.diagnosis !== undefined && { diagnosis: stuckBoot.diagnosis }) })
    const text = written.join('')
    expect(text.match(/offered snponly/g)).toHaveLength(2)
    expect(text).toContain('rootfs 40 %')
    expect(text).toContain('rootfs 50 %')
    expect(text.match(/✗ offer-not-followed/g)).toHaveLength(1)
    expect(text).not.toContain('\u001b')
  })

  test('another boot begins with its id', () => {
    const { written, stream } = recorder()
    const view = lineView(stream, () => {})
    view.show(sampleBootDetail)
    view.show({ ...sampleBootDetail, id: 'another' })
    expect(written.filter((line) => line.includes(': boot '))).toEqual([
      'rack1-n01: boot 0mh9xk2r0aaaaaa\n',
      'rack1-n01: boot another\n',
    ])
  })
})

test('JSON is one object a line, and only when something but its age changed', () => {
  const { written, stream } = recorder()
  const view = jsonView(stream, () => {})
  view.show(sampleBootDetail)
  view.show({ ...sampleBootDetail, durationMs: 99_000 })
  view.show(further)
  expect(written).toHaveLength(2)
  for (const line of written) expect(line).toMatch(/^\{.*\}\n$/)
})
