import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shownText } from '../../../../src/http/admin/page/page-templates.ts'
import { shownBytes } from '../../../../src/http/admin/page/shown-bytes.ts'
import { shownAge, shownDuration } from '../../../../src/http/admin/page/shown-duration.ts'
import { shownProgress } from '../../../../src/http/admin/page/shown-progress.ts'
import { shownSince, shownTime } from '../../../../src/http/admin/page/shown-time.ts'

test.each([
  [0, '0 ms'],
  [340.4, '340 ms'],
  [4_230, '4.2 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min'],
  [185_000, '3 min 5 s'],
  [3_599_900, '1 h'],
  [18_720_000, '5 h 12 min'],
  [273_600_000, '3 d 4 h'],
  [-5, '0 ms'],
])('%d ms are %s', (ms, text) => expect(shownDuration(ms)).toBe(text))

test.each([
  [-1_000, 'now'],
  [1_999, 'now'],
  [12_400, '12 s'],
  [3 * 60_000, '3 min'],
  [47 * 3_600_000, '47 h'],
  [12 * 86_400_000, '12 d'],
])('an age of %d ms is %s', (ms, text) => expect(shownAge(ms)).toBe(text))

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.00 KiB'],
  [432_013_312, '412 MiB'],
  [1_070_596_096, '1021 MiB'],
  [1_181_000_000, '1.10 GiB'],
  [Number.NaN, '0 B'],
  [-1, '0 B'],
])('%d bytes are %s', (bytes, text) => expect(shownBytes(bytes)).toBe(text))

test('a time of today has no date, others have one, and what is none is shown as it is', () => {
  const now = Date.parse('2026-11-30T07:42:10.000Z')
  expect(shownTime('2026-11-30T01:02:03.456Z', now)).toBe('01:02:03')
  expect(shownTime('2026-11-29T01:02:03.456Z', now)).toBe('2026-11-29 01:02:03')
  expect(shownTime('soon', now)).toBe('soon')
  expect(shownSince('2026-11-30T07:40:00.000Z', now)).toBe('2 min ago')
  expect(shownSince('soon', now)).toBe('soon')
})

test('progress is a part of a hundred, and nothing while the whole is not known', () => {
  const label = 'rootfs'
  expect(shownProgress({ label, done: 412, total: 1_021 })?.percent).toBe(40)
  expect(shownProgress({ label, done: 2_000, total: 1_021 })?.percent).toBe(100)
  expect(shownProgress({ label, done: 5, total: 0 })).toBeUndefined()
  expect(shownProgress({ label, done: 5, total: Number.NaN })).toBeUndefined()
})

describe('whatever a machine says is text', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    [`" onfocus='x' a="`, '&quot; onfocus=&#39;x&#39; a=&quot;'],
    ['\x1b[31mred\x07', '\\x1b[31mred\\x07'],
    ['user\u202egnp.exe', 'user\\u202egnp.exe'],
    ['two\nlines', 'two\\x0alines'],
    ['\ud800', '\\ud800'],
    [undefined, ''],
    [0, '0'],
  ])('%j is shown as %j', (value, shown) => expect(shownText(value)).toBe(shown))

  test('64 KiB are cut', () => {
    expect(shownText('x'.repeat(65_536)).length).toBeLessThan(1_100)
  })

  test('no string ends an attribute, opens an element or has a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(shownText(text)).not.toMatch(/[<>"'\p{Cc}\p{Cf}]/u)
      }),
    )
  })
})
