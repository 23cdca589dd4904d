import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visibleText } from '../../src/core/visible-text.ts'

test('escape sequences, line breaks and bidi overrides are spelt out', () => {
  expect(visibleText('\u001b[31mred\u001b[0m')).toBe('\\x1b[31mred\\x1b[0m')
  expect(visibleText('a\r\nforged line')).toBe('a\\x0d\\x0aforged line')
  expect(visibleText('a\u202eb\u2028c\u0085d\u{e0001}')).toBe('a\\u202eb\\u2028c\\x85d\\u{e0001}')
})

test('ordinary text of any script stays as it is', () => {
  expect(visibleText('Ünïcode 服务器 C:\\path "quoted"')).toBe('Ünïcode 服务器 C:\\path "quoted"')
})

test('long text is cut with an ellipsis', () => {
  expect(visibleText('x'.repeat(10), 4)).toBe('xxxx…')
})

test('whatever comes in, nothing invisible comes out', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(visibleText(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    }),
  )
})
