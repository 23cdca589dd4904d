import { describe, expect, it } from 'vitest'
import type { ExtraOption } from '../../src/core/extra-dhcp-option.ts'
import { parseExtraOption } from '../../src/dhcp/extra-option.ts'
import { toHex } from './support.ts'

describe('an extra option', () => {
  const read = (extra: ExtraOption): string => {
    const result = parseExtraOption(extra)
    return result.option ? toHex(result.option.data) : result.problem
  }

  it.each([
    [{ code: 100, type: 'text', value: 'CET' }, '43 45 54'],
    [{ code: 42, type: 'addresses', value: '192.0.2.1, 192.0.2.2' }, 'c0 00 02 01 c0 00 02 02'],
    [{ code: 19, type: 'byte', value: '1' }, '01'],
    [{ code: 26, type: 'uint16', value: '9000' }, '23 28'],
    [{ code: 2, type: 'uint32', value: '3600' }, '00 00 0e 10'],
    [{ code: 121, type: 'hex', value: '18:c0 00 02 C0000201' }, '18 c0 00 02 c0 00 02 01'],
  ] as const)('%o', (extra, expected) => expect(read(extra)).toBe(expected))

  it.each([
    [{ code: 256, type: 'text', value: 'x' }, 'there is no option 256'],
    [{ code: 1.5, type: 'text', value: 'x' }, 'there is no option 1.5'],
    [{ code: 67, type: 'text', value: 'x' }, 'option 67 is set by the service itself'],
    [{ code: 0, type: 'hex', value: '' }, 'option 0 is set by the service itself'],
    [
      { code: 100, type: 'text', value: 'a\nb' },
      'option 100: "a\nb" is not text of printable ASCII characters',
    ],
    [
      { code: 42, type: 'addresses', value: '192.0.2.1,' },
      'option 42: "192.0.2.1," is not a list of IPv4 addresses, separated by commas',
    ],
    [{ code: 19, type: 'byte', value: '256' }, 'option 19: "256" is not a number from 0 to 255'],
    [{ code: 26, type: 'uint16', value: '-1' }, 'option 26: "-1" is not a number from 0 to 65535'],
    [{ code: 121, type: 'hex', value: 'abc' }, 'option 121: "abc" is not a row of hex digits, two a byte'],
    [{ code: 121, type: 'hex', value: '00'.repeat(1025) }, 'option 121 is longer than 1024 bytes'],
  ] as const)('%o is refused', (extra, problem) => expect(read(extra)).toBe(problem))
})
