import { describe, expect, it } from 'vitest'
import { type DhcpReplyPacket, encodeReply, replySizeLimit } from '../../src/dhcp/encode-reply.ts'
import { optionCode } from '../../src/dhcp/option-codes.ts'
import { byteOption, type DhcpOption, ipv4Option } from '../../src/dhcp/options.ts'
import { headerFile, headerServerName } from '../../src/dhcp/packet.ts'
import { hex, ip, optionsOf, packetOf, textOf, toHex } from './support.ts'

const base: DhcpReplyPacket = {
  htype: 1,
  xid: 0x5b1a2c3d,
  flags: 0x8000,
  ciaddr: ip('0.0.0.0'),
  yiaddr: ip('192.0.2.55'),
  siaddr: ip('192.0.2.10'),
  giaddr: ip('0.0.0.0'),
  chaddr: hex('525400abcdef'),
  serverName: '192.0.2.10',
  bootFile: 'snponly.efi',
  options: [byteOption(optionCode.messageType, 2), ipv4Option(optionCode.serverIdentifier, ip('192.0.2.10'))],
  relayAgentInformation: undefined,
  maxSizeBytes: 548,
  isPaddedAfterBootFile: true,
}

function encode(changes: Partial<DhcpReplyPacket>): Buffer {
  const encoded = encodeReply({ ...base, ...changes })
  if (!encoded.bytes) throw new Error(encoded.refused)
  return encoded.bytes
}

/** The options field up to and including END. */
function tail(bytes: Buffer): string {
  return toHex(bytes.subarray(240)).replace(/(?: 00)*$/, '')
}

function filler(code: number, length: number): DhcpOption {
  return { code, data: new Uint8Array(length).fill(code) }
}

describe('a reply', () => {
  it('is laid out byte by byte', () => {
    const expected = Buffer.alloc(300)
    expected.set(
      hex(
        '02 01 06 00 5b 1a 2c 3d 00 00 80 00 00 00 00 00 c0 00 02 37 c0 00 02 0a 00 00 00 00 52 54 00 ab cd ef',
      ),
    )
    expected.write('192.0.2.10', 44)
    expected.write('snponly.efi', 108)
    expected.set(
      hex('63 82 53 63 35 01 02 36 04 c0 00 02 0a 43 0b 73 6e 70 6f 6e 6c 79 2e 65 66 69 00 ff'),
      236,
    )
    expect(toHex(encode({}))).toBe(toHex(expected))
  })

  it('is at least 300 bytes long, filled with zeros', () => {
    expect(encode({})).toHaveLength(300)
    expect(encode({ options: [...base.options, filler(128, 60)] }).length).toBeGreaterThan(300)
  })

  it('has the boot file last of our own options, then PAD, then END (cases 24 and 25)', () => {
    expect(tail(encode({}))).toBe('35 01 02 36 04 c0 00 02 0a 43 0b 73 6e 70 6f 6e 6c 79 2e 65 66 69 00 ff')
  })

  it('returns option 82 as the very last option (case 36)', () => {
    const relayAgentInformation = hex('01 04 00 00 00 07')
    expect(tail(encode({ relayAgentInformation }))).toMatch(/ 65 66 69 00 52 06 01 04 00 00 00 07 ff$/)
    expect(tail(encode({ relayAgentInformation, bootFile: '' }))).toBe(
      '35 01 02 36 04 c0 00 02 0a 52 06 01 04 00 00 00 07 ff',
    )
  })

  it('has END right after the boot file for Raspberry Pi ROMs (case 42)', () => {
    expect(tail(encode({ isPaddedAfterBootFile: false }))).toMatch(/ 2e 65 66 69 ff$/)
  })

  it('names the boot file in the header and in option 67 (case 26)', () => {
    const packet = packetOf(encode({ bootFile: 'debian/shimx64.efi' }))
    expect(textOf(headerFile(packet))).toBe('debian/shimx64.efi')
    expect(textOf(packet.options.find(({ code }) => code === 67)?.data ?? hex(''))).toBe('debian/shimx64.efi')
  })

  it('names a file of 127 bytes in both, a longer one in option 67 alone', () => {
    const fits = 'a'.repeat(127)
    const tooLong = 'a'.repeat(128)
    expect(textOf(headerFile(packetOf(encode({ bootFile: fits }))))).toBe(fits)
    expect(encode({ bootFile: fits })[108 + 127]).toBe(0)
    const packet = packetOf(encode({ bootFile: tooLong }))
    expect(textOf(headerFile(packet))).toBe('')
    expect(textOf(packet.options.find(({ code }) => code === 67)?.data ?? hex(''))).toBe(tooLong)
  })

  it('names a file of 300 bytes in two parts of option 67', () => {
    const bytes = encode({ bootFile: 'a'.repeat(300), maxSizeBytes: 1472 })
    expect(packetOf(bytes).options.find(({ code }) => code === 67)?.data).toHaveLength(300)
    expect(toHex(bytes).endsWith('61 61 00 ff')).toBe(true)
  })

  it('splits a value beyond 255 bytes over several options, which read as one again (RFC 3396)', () => {
    const long = filler(121, 600)
    const bytes = encode({ options: [...base.options, long], maxSizeBytes: 1472 })
    expect(toHex(bytes.subarray(249, 251))).toBe('79 ff')
    expect(toHex(bytes.subarray(249 + 257, 249 + 259))).toBe('79 ff')
    expect(toHex(bytes.subarray(249 + 514, 249 + 516))).toBe('79 5a')
    expect(packetOf(bytes).options.find(({ code }) => code === 121)?.data).toEqual(
      new Uint8Array(600).fill(121),
    )
  })

  it('of every length of option value reads as it was written', () => {
    for (let length = 0; length <= 700; length++) {
      const packet = packetOf(encode({ options: [...base.options, filler(224, length)], maxSizeBytes: 1472 }))
      expect(packet.options.find(({ code }) => code === 224)?.data.length).toBe(length)
    }
  })
})

describe('a reply that is too long for the client', () => {
  const many = (count: number, length: number) => [
    ...base.options,
    ...Array.from({ length: count }, (_, index) => filler(200 + index, length)),
  ]

  it('is not overloaded as long as it fits (case 27)', () => {
    const options = many(4, 62)
    const fitting = encode({ options })
    expect(fitting.length).toBeLessThanOrEqual(548)
    expect(packetOf(fitting).options.some(({ code }) => code === 52)).toBe(false)
    expect(textOf(headerServerName(packetOf(fitting)))).toBe('192.0.2.10')
  })

  it('gives up sname first, and keeps the file name in the header', () => {
    const bytes = encode({ options: many(6, 46) })
    const packet = packetOf(bytes)
    expect(bytes.length).toBeLessThanOrEqual(548)
    expect(optionsOf(packet.options)[52]).toBe('02')
    expect(textOf(headerFile(packet))).toBe('snponly.efi')
    for (let code = 200; code < 206; code++)
      expect(packet.options.find((each) => each.code === code)?.data).toHaveLength(46)
  })

  it('gives up the header file name as well, and names the file in option 67', () => {
    const packet = packetOf(encode({ options: many(8, 45) }))
    expect(optionsOf(packet.options)[52]).toBe('03')
    for (let code = 200; code < 208; code++)
      expect(packet.options.find((each) => each.code === code)?.data).toHaveLength(45)
    expect(textOf(packet.options.find(({ code }) => code === 67)?.data ?? hex(''))).toBe('snponly.efi')
  })

  it('keeps message type, server and tail in the options field', () => {
    const bytes = encode({ options: many(8, 45), relayAgentInformation: hex('01 01 07') })
    expect(toHex(bytes.subarray(240, 243))).toBe('35 01 02')
    expect(tail(bytes)).toMatch(/ 00 52 03 01 01 07 ff$/)
  })

  it('is refused when even that is not enough', () => {
    expect(encodeReply({ ...base, options: many(20, 45) })).toEqual({ refused: 'reply-too-long' })
    expect(encodeReply({ ...base, options: [...base.options, filler(224, 400)] })).toEqual({
      refused: 'reply-too-long',
    })
  })
})

describe('the size that a client takes', () => {
  it.each([
    ['not said', undefined, 548],
    ['less than every client must take', '01 00', 548],
    ['576', '02 40', 548],
    ['1472, as EDK2 and iPXE say in a DISCOVER', '05 c0', 1444],
    ['65280, as EDK2 says in a REQUEST', 'ff 00', 1472],
    ['one byte, which is no size', '05', 548],
  ])('%s', (_, value, expected) =>
    expect(replySizeLimit(value === undefined ? undefined : hex(value))).toBe(expected),
  )
})
