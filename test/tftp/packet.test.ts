import { describe, expect, it } from 'vitest'
import {
  encodeError,
  encodeOack,
  parsePacket,
  refusalAnswers,
  writeDataHeader,
} from '../../src/tftp/packet.ts'

/** Bytes from text with `\0` and other escapes, as a client puts them on the wire. */
function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}

function request(text: string) {
  const packet = parsePacket(bytes(text))
  if (packet.kind !== 'read') throw new Error(`read expected, got ${JSON.stringify(packet)}`)
  return { ...packet, rawName: packet.rawName.toString('latin1') }
}

describe('requests as recorded from clients', () => {
  it('EDK2 probes the size with a block size and a window (case 60)', () => {
    expect(request('\0\x01ipxe.efi\0octet\0tsize\x000\0blksize\x001468\0windowsize\x004\0')).toEqual({
      kind: 'read',
      rawName: 'ipxe.efi',
      mode: 'octet',
      options: [
        { name: 'tsize', value: '0' },
        { name: 'blksize', value: '1468' },
        { name: 'windowsize', value: '4' },
      ],
    })
  })

  it('iPXE asks for 1432 bytes', () => {
    expect(request('\0\x01boot.ipxe\0octet\0blksize\x001432\0tsize\x000\0').options).toEqual([
      { name: 'blksize', value: '1432' },
      { name: 'tsize', value: '0' },
    ])
  })

  it('a client without options', () => {
    expect(request('\0\x01undionly.kpxe\0octet\0')).toMatchObject({ mode: 'octet', options: [] })
  })

  it.each(['octet', 'OCTET', 'Octet', 'oCtEt'])('mode %s is octet (case 63)', (mode) => {
    expect(request(`\0\x01x\0${mode}\0`).mode).toBe('octet')
  })

  it.each(['netascii', 'NETASCII', 'NetAscii'])('mode %s is netascii (case 63)', (mode) => {
    expect(request(`\0\x01x\0${mode}\0`).mode).toBe('netascii')
  })

  it('option names come in any case (case 62)', () => {
    expect(request('\0\x01x\0octet\0BLKSIZE\x001024\0TSize\x000\0').options).toEqual([
      { name: 'blksize', value: '1024' },
      { name: 'tsize', value: '0' },
    ])
  })

  it('the last NUL may be missing after a mode or a value', () => {
    expect(request('\0\x01x\0octet').mode).toBe('octet')
    expect(request('\0\x01x\0octet\0blksize\x00512').options).toEqual([{ name: 'blksize', value: '512' }])
  })

  it.each([
    ['a name without a value', '\0\x01x\0octet\0blksize\0', []],
    ['a name without its NUL', '\0\x01x\0octet\0blksize', []],
    ['an empty name', '\0\x01x\0octet\0\x001468\0tsize\x000\0', [{ name: 'tsize', value: '0' }]],
    ['the second of a name', '\0\x01x\0octet\0tsize\x000\0tsize\x007\0', [{ name: 'tsize', value: '0' }]],
    [
      'an over-long value',
      `\0\x01x\0octet\0a\0${'9'.repeat(65)}\0tsize\x000\0`,
      [{ name: 'tsize', value: '0' }],
    ],
    [
      'an over-long name',
      `\0\x01x\0octet\0${'a'.repeat(65)}\x001\0tsize\x000\0`,
      [{ name: 'tsize', value: '0' }],
    ],
  ])('%s does not count', (_, text, options) => {
    expect(request(text).options).toEqual(options)
  })

  it('reads no more than sixteen options', () => {
    const many = Array.from({ length: 40 }, (_, at) => `o${at}\0${at}\0`).join('')
    expect(request(`\0\x01x\0octet\0${many}`).options).toHaveLength(16)
  })

  it('a NUL ends the name, so what stands behind it is the mode (case 73)', () => {
    expect(parsePacket(bytes('\0\x01x\0../../etc/passwd\0octet\0'))).toEqual({
      kind: 'refused',
      reason: 'mode-unsupported',
    })
  })
})

describe('what is refused, and what its sender is told', () => {
  it.each([
    ['nothing at all', '', 'too-short', undefined],
    ['one byte, which kills other servers', '00', 'too-short', undefined],
    ['two bytes', '00 01', 'too-short', undefined],
    ['three bytes', '00 04 00', 'too-short', undefined],
    ['an unknown opcode', '00 09 00 00', 'opcode-unknown', undefined],
    ['an opcode in the high byte', '01 01 78 00 6f 63 74 65 74 00', 'opcode-unknown', undefined],
    ['a name without end', '00 01 78 79 7a', 'name-unterminated', 4],
    ['a request without a mode', '00 01 78 00', 'mode-missing', 4],
    ['an empty mode', '00 01 78 00 00', 'mode-missing', 4],
    ['mode mail', '00 01 78 00 6d 61 69 6c 00', 'mode-unsupported', 4],
    ['mode binary', '00 01 78 00 62 69 6e 61 72 79 00', 'mode-unsupported', 4],
    ['a mode of a thousand bytes', `00 01 78 00 ${'61'.repeat(1000)} 00`, 'mode-unsupported', 4],
    ['a request of 3,000 bytes', `00 01 ${'61'.repeat(3000)} 00`, 'too-long', 4],
  ] as const)('%s', (_, text, reason, code) => {
    expect(parsePacket(hex(text))).toEqual({ kind: 'refused', reason })
    expect(refusalAnswers[reason]?.code).toBe(code)
  })
})

describe('the other packets', () => {
  it('acknowledgements, with junk behind them or not', () => {
    expect(parsePacket(hex('00 04 00 00'))).toEqual({ kind: 'ack', block: 0 })
    expect(parsePacket(hex('00 04 ff ff'))).toEqual({ kind: 'ack', block: 65535 })
    expect(parsePacket(hex('00 04 80 00 de ad'))).toEqual({ kind: 'ack', block: 32768 })
  })

  it('the abort of EDK2 and the one of PXELINUX (case 60)', () => {
    expect(parsePacket(bytes('\0\x05\0\x08User aborted the transfer\0'))).toEqual({
      kind: 'error',
      code: 8,
      message: 'User aborted the transfer',
    })
    expect(parsePacket(bytes('\0\x05\0\0\0'))).toEqual({ kind: 'error', code: 0, message: '' })
  })

  it('an error without NUL, with control characters, of any length is safe to show', () => {
    expect(parsePacket(bytes('\0\x05\0\x03no\x1b[31mroom\n'))).toEqual({
      kind: 'error',
      code: 3,
      message: 'no?[31mroom?',
    })
    const long = parsePacket(bytes(`\0\x05\0\x01${'a'.repeat(5000)}\0`))
    expect(long.kind === 'error' && long.message.length).toBe(128)
  })

  it('write requests, data and option acknowledgements are told apart', () => {
    expect(parsePacket(bytes('\0\x02x\0octet\0'))).toEqual({ kind: 'write' })
    expect(parsePacket(hex('00 03 00 01 aa'))).toEqual({ kind: 'data' })
    expect(parsePacket(bytes('\0\x06tsize\x000\0'))).toEqual({ kind: 'oack' })
  })
})

describe('encoding', () => {
  it('an error', () => {
    expect(encodeError({ code: 1, message: 'no such file' })).toEqual(bytes('\0\x05\0\x01no such file\0'))
  })

  it('an option acknowledgement', () => {
    expect(
      encodeOack([
        { name: 'tsize', value: '1048576' },
        { name: 'blksize', value: '1468' },
      ]),
    ).toEqual(bytes('\0\x06tsize\x001048576\0blksize\x001468\0'))
  })

  it.each([
    [1, '00030001'],
    [32768, '00038000'],
    [65535, '0003ffff'],
    [0, '00030000'],
  ])('the header of block %i', (block, expected) => {
    const target = Buffer.alloc(6, 0xaa)
    writeDataHeader(target, 1, block)
    expect(target.toString('hex')).toBe(`aa${expected}aa`)
  })
})
