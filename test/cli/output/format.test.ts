import { expect, test } from 'vitest'
import { count, formatAge, formatBytes } from '../../../src/cli/output/format.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [102_400, '100 KiB'],
  [1_200_000_000, '1.1 GiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [9_000 * 1024 ** 4, '9000 TiB'],
  [-5, '0 B'],
])('%d bytes are %s', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected)
})

test.each([
  [undefined, 'never'],
  ['nonsense', 'never'],
  ['2026-11-29T12:00:00Z', '0 s ago'],
  ['2026-11-29T12:00:30Z', '0 s ago'],
  ['2026-11-29T11:59:01Z', '59 s ago'],
  ['2026-11-29T11:01:00Z', '59 min ago'],
  ['2026-11-28T12:00:00Z', '24 h ago'],
  ['2026-11-19T12:00:00Z', '10 days ago'],
])('%s seen at noon is %s', (time, expected) => {
  expect(formatAge(time, Date.parse('2026-11-29T12:00:00Z'))).toBe(expected)
})

test('numbers agree with their noun', () => {
  expect([count(0, 'file'), count(1, 'file'), count(2, 'file')]).toEqual(['0 files', '1 file', '2 files'])
})
