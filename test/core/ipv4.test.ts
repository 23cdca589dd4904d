import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatIpv4,
  formatIpv4Subnet,
  type Ipv4,
  ipv4Hex,
  isInSubnet,
  isUnicastIpv4,
  netmask,
  parseIpv4,
  parseIpv4Subnet,
  prefixOfNetmask,
  subnetBroadcast,
  subnetOf,
  toIpv4,
} from '../../src/core/ipv4.ts'

const address = fc.integer({ min: 0, max: 0xffffffff }).map(toIpv4)

function ip(text: string): Ipv4 {
  const parsed = parseIpv4(text)
  if (parsed === undefined) throw new Error(`${text} is no address`)
  return parsed
}

describe('IPv4 addresses', () => {
  it('are read and written without loss', () => {
    fc.assert(fc.property(address, (value) => parseIpv4(formatIpv4(value)) === value))
  })

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.04',
    '1.2.3.-4',
    '0x1.2.3.4',
    '1.2.3.4/24',
    'a.b.c.d',
  ])('refuses %j', (text) => expect(parseIpv4(text)).toBeUndefined())

  it('have the hex name that PXELINUX and GRUB ask for', () => {
    expect(ipv4Hex(ip('192.0.2.91'))).toBe('C000025B')
    expect(ipv4Hex(ip('1.2.3.4'))).toBe('01020304')
  })

  it.each([
    ['192.0.2.1', true],
    ['0.0.0.0', false],
    ['127.0.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['223.255.255.254', true],
  ])('%s can be a machine: %s', (text, expected) => expect(isUnicastIpv4(ip(text))).toBe(expected))
})

describe('IPv4 subnets', () => {
  it('are read with their prefix', () => {
    expect(parseIpv4Subnet('192.0.2.0/24')).toEqual({ network: ip('192.0.2.0'), prefix: 24 })
    expect(parseIpv4Subnet('0.0.0.0/0')).toEqual({ network: 0, prefix: 0 })
  })

  it.each([
    '192.0.2.0',
    '192.0.2.1/24',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/024',
    '192.0.2.0/24/1',
    'x/24',
  ])('refuses %j', (text) => expect(parseIpv4Subnet(text)).toBeUndefined())

  it('know mask, broadcast and members', () => {
    const subnet = subnetOf(ip('198.18.20.77'), 20)
    expect(formatIpv4Subnet(subnet)).toBe('198.18.16.0/20')
    expect(formatIpv4(netmask(20))).toBe('255.255.240.0')
    expect(formatIpv4(subnetBroadcast(subnet))).toBe('198.18.31.255')
    expect(isInSubnet(ip('198.18.31.254'), subnet)).toBe(true)
    expect(isInSubnet(ip('198.18.32.0'), subnet)).toBe(false)
    expect(isInSubnet(ip('203.0.113.9'), subnetOf(ip('1.2.3.4'), 0))).toBe(true)
  })

  it('tell a mask with holes from a prefix', () => {
    for (let prefix = 0; prefix <= 32; prefix++) expect(prefixOfNetmask(netmask(prefix))).toBe(prefix)
    expect(prefixOfNetmask(ip('255.0.255.0'))).toBeUndefined()
    expect(prefixOfNetmask(ip('255.255.255.1'))).toBeUndefined()
  })

  it('contain what subnetOf was given', () => {
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 32 }), (value, prefix) =>
        isInSubnet(value, subnetOf(value, prefix)),
      ),
    )
  })
})
