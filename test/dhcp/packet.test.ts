import { describe, expect, it } from 'vitest'
import { formatIpv4 } from '../../src/core/ipv4.ts'
import { decodePacket, headerFile, headerServerName } from '../../src/dhcp/packet.ts'
import { fixture, hex, optionsOf, packetOf, request, textOf, toHex } from './support.ts'

describe('a captured packet', () => {
  it('of EDK2 is read field by field', () => {
    const packet = packetOf(fixture('edk2-pxe-x64-discover'))
    expect({
      ...packet,
      chaddr: toHex(packet.chaddr),
      options: optionsOf(packet.options),
      bytes: packet.bytes.length,
    }).toEqual({
      op: 1,
      htype: 1,
      hops: 0,
      xid: 0x5b1a2c3d,
      secs: 0,
      flags: 0x8000,
      ciaddr: 0,
      yiaddr: 0,
      siaddr: 0,
      giaddr: 0,
      chaddr: '52 54 00 ab cd ef',
      bytes: 347,
      isFileOverloaded: false,
      isServerNameOverloaded: false,
      messageType: 1,
      options: {
        53: '01',
        57: '05 c0',
        55: '01 02 03 04 05 06 0c 0d 0f 11 12 16 17 1c 28 29 2a 2b 32 33 36 3a 3b 3c 42 43 61 80 81 82 83 84 85 86 87',
        97: '00 47 09 cd 85 54 3f 99 41 b0 f1 52 54 00 ab cd ef',
        94: '01 03 00',
        93: '00 07',
        60: '50 58 45 43 6c 69 65 6e 74 3a 41 72 63 68 3a 30 30 30 30 37 3a 55 4e 44 49 3a 30 30 33 30 30 30',
      },
    })
  })

  it('on port 4011 names the address that the client holds', () => {
    expect(formatIpv4(packetOf(fixture('edk2-pxe-x64-4011')).ciaddr)).toBe('192.0.2.55')
  })

  it('over InfiniBand has no hardware address', () => {
    const packet = packetOf(fixture('infiniband-discover'))
    expect(packet.htype).toBe(32)
    expect(packet.chaddr).toHaveLength(0)
  })
})

describe('option overload', () => {
  const inFile = hex('43 05 61 2e 65 66 69 ff')
  const inServerName = hex('0c 02 61 62 ff')

  function overloaded(value: string): Uint8Array {
    const bytes = Uint8Array.from(request({ options: `35 01 01 34 01 ${value} 43 01 2f ff` }))
    bytes.set(inFile, 108)
    bytes.set(inServerName, 44)
    return bytes
  }

  it.each([
    ['01', { 53: '01', 52: '01', 67: '2f 61 2e 65 66 69' }, '\x0c\x02ab\xff', ''],
    ['02', { 53: '01', 52: '02', 67: '2f', 12: '61 62' }, '', 'C\x05a.efi\xff'],
    ['03', { 53: '01', 52: '03', 67: '2f 61 2e 65 66 69', 12: '61 62' }, '', ''],
    ['00', { 53: '01', 52: '00', 67: '2f' }, '\x0c\x02ab\xff', 'C\x05a.efi\xff'],
    ['04', { 53: '01', 52: '04', 67: '2f' }, '\x0c\x02ab\xff', 'C\x05a.efi\xff'],
  ])(
    'value %s: the fields that it names are read as options, file before sname',
    (value, options, sname, file) => {
      const packet = packetOf(overloaded(value))
      expect(optionsOf(packet.options)).toEqual(options)
      expect(textOf(headerServerName(packet))).toBe(sname)
      expect(textOf(headerFile(packet))).toBe(file)
    },
  )

  it('with an option that runs over the end of the field is refused', () => {
    const bytes = Uint8Array.from(request({ options: '35 01 01 34 01 01 ff' }))
    bytes.fill(0, 108, 236)
    bytes.set(hex('43 ff'), 234)
    expect(decodePacket(bytes)).toEqual({ refused: 'packet-option-truncated' })
  })

  it('without overload, file and sname stay text', () => {
    const bytes = Uint8Array.from(request())
    bytes.set(Buffer.from('boot/x.efi'), 108)
    expect(textOf(headerFile(packetOf(bytes)))).toBe('boot/x.efi')
  })
})

/** Field case 38: what once stopped other services. */
describe('a packet that is none is refused with a reason', () => {
  const good = fixture('edk2-pxe-x64-discover')

  it.each([0, 1, 27, 28, 43, 236, 239])('%d bytes', (length) => {
    expect(decodePacket(good.subarray(0, length))).toEqual({ refused: 'packet-too-short' })
  })

  it('no magic cookie', () => {
    const bytes = Uint8Array.from(good)
    bytes[236] = 0
    expect(decodePacket(bytes)).toEqual({ refused: 'packet-cookie-missing' })
  })

  it.each([17, 255])('a hardware address of %d bytes', (hlen) => {
    expect(decodePacket(request({ hlen }))).toEqual({ refused: 'packet-hardware-address-too-long' })
  })

  it.each([0, 3, 255])('op %d', (op) =>
    expect(decodePacket(request({ op }))).toEqual({ refused: 'packet-op-unknown' }),
  )

  it('1500 bytes of FF', () => {
    expect(decodePacket(new Uint8Array(1500).fill(255))).toEqual({ refused: 'packet-op-unknown' })
  })

  it('more than any client sends', () => {
    expect(decodePacket(new Uint8Array(4097))).toEqual({ refused: 'packet-too-long' })
  })

  it('an option cut at every byte', () => {
    // Byte 240 is the first option; up to 346 each prefix ends within an option or right after one.
    const results = Array.from({ length: good.length - 240 }, (_, cut) =>
      decodePacket(good.subarray(0, 240 + cut)),
    )
    const refusals = results.filter(({ packet }) => packet === undefined)
    expect(
      refusals.every((result) => 'refused' in result && result.refused === 'packet-option-truncated'),
    ).toBe(true)
    expect(results.length - refusals.length).toBe(8)
  })

  it('but a hardware address of no bytes, a missing END and no options at all are read', () => {
    expect(packetOf(request({ chaddr: '', hlen: 0 })).chaddr).toHaveLength(0)
    expect(packetOf(request({ options: '35 01 01' })).messageType).toBe(1)
    expect(packetOf(request({ options: '' })).messageType).toBeUndefined()
  })

  it('and a message type of two bytes is no message type', () => {
    expect(packetOf(request({ options: '35 02 01 01 ff' })).messageType).toBeUndefined()
    expect(packetOf(request({ options: '35 01 01 35 01 03 ff' })).messageType).toBeUndefined()
  })
})
