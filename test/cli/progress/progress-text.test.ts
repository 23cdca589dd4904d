import { expect, test } from 'vitest'
import { progressLine, progressText } from '../../../src/cli/progress/progress-text.ts'
import type { BootimageSummary } from '../../../src/http/admin/operations.ts'

function bootimage(change: Partial<BootimageSummary> = {}): BootimageSummary {
  return {
    id: 'fcos-stable/x86_64/44/0',
    stream: 'fcos-stable',
    arch: 'x86_64',
    release: '44',
    kind: 'live',
    state: 'downloading',
    roles: ['target'],
    setDigest: '0',
    artifacts: [],
    ...change,
  }
}
const MiB = 1024 * 1024

test('field case 147: bytes, total, percent and rate of a download', () => {
  expect(
    progressText(bootimage({ doneBytes: 450 * MiB, totalBytes: 900 * MiB, bytesPerSecond: 80 * MiB })),
  ).toBe('fcos-stable x86_64 44: downloading 50 % (450 MiB of 900 MiB), 80.0 MiB/s')
})

test('a total that nobody told leaves percent out', () => {
  expect(progressText(bootimage({ doneBytes: 5 * MiB }))).toBe('fcos-stable x86_64 44: downloading 5.0 MiB')
})

test('a state without bytes is only its name', () => {
  expect(progressText(bootimage({ state: 'queued' }))).toBe('fcos-stable x86_64 44: queued')
})

test('more bytes than announced never show more than 100 %', () => {
  expect(progressText(bootimage({ doneBytes: 11, totalBytes: 10 }))).toContain('100 %')
})

test('several bootimages are one sum', () => {
  const one = bootimage({ doneBytes: 10 * MiB, totalBytes: 100 * MiB, bytesPerSecond: MiB })
  expect(progressLine([one, { ...one, arch: 'aarch64' }, bootimage({ state: 'ready' })], 80)).toBe(
    '2 bootimages: 10 % (20.0 MiB of 200 MiB), 2.0 MiB/s',
  )
})

test('nothing on its way is no line', () => {
  expect(progressLine([bootimage({ state: 'ready' }), bootimage({ state: 'failed' })], 80)).toBeUndefined()
})

test('a line never reaches the last column, so it never wraps', () => {
  const line = progressLine([bootimage({ doneBytes: MiB, totalBytes: 3 * MiB })], 30) ?? ''
  expect([...line]).toHaveLength(29)
  expect(line).toMatch(/…$/)
})
