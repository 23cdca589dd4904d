import { describe, expect, it } from 'vitest'
import type { CapturedPacket } from '../../src/capture/captured-packet.ts'
import { writePcap } from '../../src/capture/pcap.ts'
import { ip, mac } from '../dhcp/support.ts'

const machine = mac('52:54:00:ab:cd:ef')
const at = Date.UTC(2026, 10, 30, 4, 0, 0, 250)
const packet = (changes: Partial<CapturedPacket> = {}): CapturedPacket => ({
  at,
  isOurs: false,
  local: ip('192.0.2.10'),
  localPort: 69,
  peer: ip('192.0.2.55'),
  peerPort: 1025,
  bytes: Uint8Array.of(0, 4, 0, 1),
  fullLength: 4,
  ...changes,
})

/** Adds up as a receiver does: the sum over header and checksum is all ones. */
function isChecked(bytes: Buffer, start = 0): boolean {
  let sum = start
  for (let place = 0; place < bytes.length; place += 2) {
    sum += (bytes[place] ?? 0) * 256 + (bytes[place + 1] ?? 0)
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return sum === 0xffff
}

const isUdpChecked = (frame: Buffer) => {
  const udp = frame.subarray(34)
  return isChecked(Buffer.concat([frame.subarray(26, 34), Buffer.from([0, 17]), udp.subarray(4, 6), udp]))
}

describe('a pcap file', () => {
  it('is byte for byte as its readers want it', () => {
    expect(writePcap([packet()], machine).toString('hex')).toBe(
      [
        // magic, 2.4, zone and accuracy, longest packet, Ethernet
        'a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000001',
        // seconds, microseconds, kept and true length
        `${(at / 1000 - 0.25).toString(16)} ${(250_000).toString(16).padStart(8, '0')} 0000002e 0000002e`,
        '020000000001 525400abcdef 0800',
        '45 00 0020 0000 4000 40 11 b68b c0000237 c000020a',
        '0401 0045 000c 7749',
        '0004 0001',
      ]
        .join('')
        .replaceAll(' ', ''),
    )
  })

  it('has checksums that are right, for an odd length too', () => {
    for (const length of [1, 2, 3, 300, 301]) {
      const bytes = Uint8Array.from({ length }, (_, index) => index * 7)
      const file = writePcap([packet({ bytes, fullLength: length, isOurs: true })], machine)
      const frame = file.subarray(40)
      expect([isChecked(frame.subarray(14, 34)), isUdpChecked(frame)]).toEqual([true, true])
    }
  })

  it('a checksum that comes to zero is sent as all ones (RFC 768)', () => {
    const sums = Array.from({ length: 0x10000 }, (_, value) => value)
    const zero = sums.find((value) => {
      const bytes = Uint8Array.of(value >>> 8, value & 0xff)
      return (
        writePcap([packet({ bytes, fullLength: 2 })], machine)
          .subarray(-4, -2)
          .toString('hex') === 'ffff'
      )
    })
    expect(zero).toBeDefined()
  })

  it('tells the true length of what was cut, and makes no checksum for it', () => {
    const file = writePcap(
      [packet({ isOurs: true, bytes: Uint8Array.of(0, 3, 0, 1), fullLength: 1472 })],
      machine,
    )
    expect([file.readUInt32BE(32), file.readUInt32BE(36)]).toEqual([46, 1514])
    const frame = file.subarray(40)
    expect([frame.readUInt16BE(16), frame.readUInt16BE(38), frame.readUInt16BE(40)]).toEqual([1500, 1480, 0])
  })

  it('has the packets in the order of their times, from whom to whom they went', () => {
    const answer = packet({ at: at + 1, isOurs: true, peer: ip('255.255.255.255'), peerPort: 68 })
    const file = writePcap([answer, packet()], machine)
    const [first, second] = [file.subarray(40, 40 + 46), file.subarray(40 + 46 + 16)]
    expect(first.subarray(6, 12).toString('hex')).toBe('525400abcdef')
    expect(second.subarray(0, 12).toString('hex')).toBe('ffffffffffff020000000001')
  })

  it('without packets is a file all the same', () => {
    expect(writePcap([], machine)).toHaveLength(24)
  })
})
