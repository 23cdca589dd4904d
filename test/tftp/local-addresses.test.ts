import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createInterfaceMtu } from '../../src/tftp/interface-mtu.ts'
import { addressesBehind, isWildcard } from '../../src/tftp/local-addresses.ts'

const base = { netmask: '', mac: '', internal: false, cidr: null }

describe('addresses behind a wildcard (cases 35, 50)', () => {
  const interfaces = {
    lo: [
      { ...base, family: 'IPv4' as const, address: '127.0.0.1' },
      { ...base, family: 'IPv6' as const, address: '::1', scopeid: 0 },
    ],
    eth0: [
      { ...base, family: 'IPv4' as const, address: '192.0.2.10' },
      { ...base, family: 'IPv4' as const, address: '198.51.100.10' },
      { ...base, family: 'IPv6' as const, address: 'fe80::1', scopeid: 2 },
    ],
    eth1: [{ ...base, family: 'IPv6' as const, address: 'fe80::1', scopeid: 3 }],
  }

  it('each address of the family', () => {
    expect(addressesBehind('0.0.0.0', interfaces)).toEqual(['127.0.0.1', '192.0.2.10', '198.51.100.10'])
    expect(addressesBehind('::', interfaces)).toEqual(['::1', 'fe80::1%eth0', 'fe80::1%eth1'])
  })

  it('wildcards are told from addresses', () => {
    expect(['0.0.0.0', '::', '127.0.0.1', '::1'].map(isWildcard)).toEqual([true, true, false, false])
  })
})

describe.skipIf(process.platform !== 'linux')('the MTU of the interface that was asked (case 66)', () => {
  it('is that of the loopback for all of its addresses', () => {
    const mtuOf = createInterfaceMtu(() => 0)
    const mtu = mtuOf('127.0.0.1')
    expect(mtu).toBeGreaterThanOrEqual(1500)
    expect(mtuOf('127.9.9.9')).toBe(mtu)
  })

  it('is known for every address of this machine', () => {
    const mtuOf = createInterfaceMtu(() => 0)
    const addresses = Object.values(networkInterfaces()).flatMap((entries = []) => entries)
    for (const { address } of addresses) expect(mtuOf(address)).toBeGreaterThan(0)
  })

  it('is unknown for an address of somebody else', () => {
    expect(createInterfaceMtu(() => 0)('203.0.113.77')).toBeUndefined()
  })
})
