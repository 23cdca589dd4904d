import { describe, expect, it } from 'vitest'
import {
  type DhcpOption,
  findOption,
  ipv4Option,
  joinRepeatedOptions,
  readByte,
  readIpv4,
  readOptionField,
  readText,
  readUint16,
  readUint32,
  textOption,
  uint16Option,
  uint32Option,
} from '../../src/dhcp/options.ts'
import { hex, ip, toHex } from './support.ts'

function read(text: string): readonly DhcpOption[] | 'truncated' {
  const options: DhcpOption[] = []
  const bytes = hex(text)
  return readOptionField(bytes, 0, bytes.length, options) ? options : 'truncated'
}

function shown(options: readonly DhcpOption[] | 'truncated'): string {
  return options === 'truncated'
    ? options
    : options.map(({ code, data }) => `${code}=${toHex(data)}`).join(' | ')
}

describe('an option field', () => {
  it.each([
    ['nothing', '', ''],
    ['END alone', 'ff', ''],
    ['PAD between options', '00 00 35 01 01 00 3d 02 aa bb 00 ff', '53=01 | 61=aa bb'],
    ['what follows END', '35 01 01 ff 3d 02 aa bb', '53=01'],
    ['a missing END', '35 01 01', '53=01'],
    ['an option of no length', '4d 00 35 01 01 ff', '77= | 53=01'],
    ['unknown options, in order', 'f0 01 07 e0 02 01 02 fe 00 ff', '240=07 | 224=01 02 | 254='],
  ])('reads %s', (_, bytes, expected) => expect(shown(read(bytes))).toBe(expected))

  it.each([
    ['an option without its length byte', '35 01 01 3c'],
    ['a length past the end', '35 01 01 3c 05 61 62'],
  ])('refuses %s', (_, bytes) => expect(read(bytes)).toBe('truncated'))
})

describe('an option in several parts (RFC 3396)', () => {
  it('is joined in the order of its parts, at the place of the first', () => {
    const parts = read('43 02 61 62 35 01 01 43 03 63 64 65 43 01 66 ff')
    expect(parts).not.toBe('truncated')
    expect(shown(joinRepeatedOptions(parts as readonly DhcpOption[]))).toBe('67=61 62 63 64 65 66 | 53=01')
  })

  it('is joined among hundreds of parts as well', () => {
    const parts = Array.from({ length: 700 }, (_, index) => ({
      code: 1 + (index % 250),
      data: Uint8Array.of(index & 255),
    }))
    const joined = joinRepeatedOptions(parts)
    expect(joined).toHaveLength(250)
    expect(toHex(findOption(joined, 1) ?? new Uint8Array())).toBe('00 fa f4')
  })
})

describe('option values', () => {
  it('of a wrong length have no value', () => {
    expect(readByte(hex('01 02'))).toBeUndefined()
    expect(readUint16(hex('01'))).toBeUndefined()
    expect(readUint32(hex('01 02 03'))).toBeUndefined()
    expect(readIpv4(hex('c0 00 02 0a c0'))).toBeUndefined()
    expect(readIpv4(undefined)).toBeUndefined()
  })

  it('are read as they are written', () => {
    expect(readUint16(uint16Option(57, 1472).data)).toBe(1472)
    expect(readUint32(uint32Option(51, 0xfffffffe).data)).toBe(0xfffffffe)
    expect(readIpv4(ipv4Option(54, ip('192.0.2.10')).data)).toBe(ip('192.0.2.10'))
    expect(toHex(ipv4Option(3, ip('192.0.2.1'), ip('192.0.2.2')).data)).toBe('c0 00 02 01 c0 00 02 02')
    expect(readText(textOption(60, 'PXEClient').data)).toBe('PXEClient')
  })

  it('that are text end at a NUL and hold nothing that cannot be shown', () => {
    expect(readText(hex('61 62 00 63'))).toBe('ab')
    expect(readText(hex('61 0a 62'))).toBeUndefined()
    expect(readText(hex('61 ff'))).toBeUndefined()
    expect(readText(hex(''))).toBe('')
  })
})
