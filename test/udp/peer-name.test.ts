import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOfKey, peerKey, peerName } from '../../src/udp/peer-name.ts'

describe('names of peers', () => {
  it('an IPv4 peer is a number, and back', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 1, max: 65535 }), (address, port) => {
        const key = peerKey(address, port)
        expect(typeof key).toBe('number')
        expect(addressOfKey(Number(key))).toEqual({ address, port })
      }),
    )
  })

  it('other peers are text', () => {
    expect(peerKey('fe80::1%eth0', 69)).toBe('fe80::1%eth0 69')
    expect(peerName('fe80::1%eth0', 69)).toBeUndefined()
  })

  it('as the kernel wants it: family, port and address in network order', () => {
    const name = peerName('192.0.2.55', 1025)
    const bytes = Buffer.alloc(8)
    bytes.writeUInt32LE(name?.familyAndPort ?? 0, 0)
    bytes.writeUInt32LE(name?.address ?? 0, 4)
    expect(bytes.toString('hex')).toBe('02000401c0000237')
  })
})
