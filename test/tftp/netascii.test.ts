import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toNetascii } from '../../src/tftp/netascii.ts'

/** The receiving side, as RFC 764 has it. */
function fromNetascii(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.toString('latin1').replace(/\r([\n\0])/g, (_, second) => (second === '\n' ? '\n' : '\r')),
    'latin1',
  )
}

describe('netascii', () => {
  it.each([
    ['a\nb', 'a\r\nb'],
    ['a\rb', 'a\r\0b'],
    ['a\r\nb', 'a\r\0\r\nb'],
    ['\n\n', '\r\n\r\n'],
    ['\r', '\r\0'],
    ['plain', 'plain'],
    ['', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(toNetascii(Buffer.from(text, 'latin1')).toString('latin1')).toBe(expected)
  })

  it('any bytes come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (array) => {
        const bytes = Buffer.from(array)
        expect(fromNetascii(toNetascii(bytes))).toEqual(bytes)
      }),
    )
  })
})
