import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressRefusal, isLocalhostName } from '../../src/upstream/address-rules.ts'
import { parseIpAddress } from '../../src/upstream/ip-address.ts'

describe('addresses that are refused unless an admin wrote them down', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['169.254.169.254', 'link-local'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['255.255.255.255', 'reserved'],
    ['::1', 'loopback'],
    ['[::1]', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::', 'unspecified'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['ff02::1', 'multicast'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['64:ff9b::169.254.169.254', 'link-local'],
    ['2002:7f00:1::', 'loopback'],
  ])('%s is %s', (address, kind) => {
    expect(addressRefusal(address)).toBe(kind)
  })

  it.each([
    '10.0.0.5',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.2.10',
    '128.0.0.1',
    '223.255.255.255',
    '2001:db8::1',
    'fd00::1',
    'fec0::1',
    '::ffff:192.168.1.1',
    '64:ff9b::192.0.2.1',
    'mirror.example',
  ])('%s is not refused', (address) => {
    expect(addressRefusal(address)).toBeUndefined()
  })

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost'])('%s means this machine', (name) => {
    expect(isLocalhostName(name)).toBe(true)
  })

  it('a name that only ends like localhost does not', () => {
    expect(isLocalhostName('notlocalhost')).toBe(false)
    expect(isLocalhostName('localhost.example')).toBe(false)
  })
})

describe('addresses as text', () => {
  it.each([
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '0x7f.1',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    '1.2.3.4::',
    'g::1',
    '',
  ])('%j is none', (text) => {
    expect(parseIpAddress(text)).toBeUndefined()
  })

  it('an IPv6 address reads the same shortened and in full, as the URL parser writes it', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const shortest = new URL(`http://[${text}]/`).hostname
        expect(parseIpAddress(shortest)).toEqual(parseIpAddress(text))
        expect(parseIpAddress(text)?.bytes).toHaveLength(16)
      }),
    )
  })

  it('every IPv4 address keeps its kind when it is mapped into IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(addressRefusal(`::ffff:${text}`)).toBe(addressRefusal(text))
      }),
    )
  })
})
