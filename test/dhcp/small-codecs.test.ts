import { describe, expect, it } from 'vitest'
import { readEncapsulated } from '../../src/dhcp/encapsulated.ts'
import { dhcpSocketsByInterface, readInheritedSockets } from '../../src/dhcp/inherited-sockets.ts'
import { readUserClasses } from '../../src/dhcp/user-class.ts'
import { hex, toHex } from './support.ts'

describe('user classes (RFC 3004, case 15)', () => {
  it.each([
    ['raw text', '69 50 58 45', ['iPXE']],
    ['one with its length', '04 69 50 58 45', ['iPXE']],
    ['two with their lengths', '01 61 02 62 63', ['a', 'bc']],
    ['a length over the end: opaque', '04 69 50 58', ['\x04iPX']],
    ['an instance of no length: opaque', '01 61 00', ['\x01a\x00']],
    ['nothing', '', []],
  ])('%s', (_, bytes, expected) => expect(readUserClasses(hex(bytes))).toEqual(expected))

  it('absent', () => expect(readUserClasses(undefined)).toEqual([]))
})

describe('encapsulated options', () => {
  it.each([
    ['PXE discovery control', '06 01 08 ff', '6=08'],
    ['PAD between, no END', '00 06 01 08 00 47 04 80 00 00 00', '6=08 71=80 00 00 00'],
    ['a wrong length ends it', '06 01 08 47 09 80', '6=08'],
    ['a code without a length', '06', ''],
    ['what follows END', 'ff 06 01 08', ''],
  ])('%s', (_, bytes, expected) => {
    expect(
      readEncapsulated(hex(bytes))
        .map(({ code, data }) => `${code}=${toHex(data)}`)
        .join(' '),
    ).toBe(expected)
  })
})

describe('inherited sockets', () => {
  const environment = { LISTEN_PID: '42', LISTEN_FDS: '3', LISTEN_FDNAMES: 'dhcp-eth1:dhcp-eth1:http' }

  it('are ours when they were meant for this process', () => {
    expect(readInheritedSockets(environment, 42)).toEqual([
      { fd: 3, name: 'dhcp-eth1' },
      { fd: 4, name: 'dhcp-eth1' },
      { fd: 5, name: 'http' },
    ])
    expect(readInheritedSockets(environment, 43)).toEqual([])
    expect(readInheritedSockets({}, 42)).toEqual([])
  })

  it.each(['-1', '99999', '1e3', '', 'x'])('of a count of %j are none', (count) => {
    expect(readInheritedSockets({ ...environment, LISTEN_FDS: count }, 42)).toEqual([])
  })

  it('without a name are nobody’s', () => {
    expect(
      readInheritedSockets({ LISTEN_PID: '42', LISTEN_FDS: '2', LISTEN_FDNAMES: ':dhcp-eth0' }, 42),
    ).toEqual([{ fd: 4, name: 'dhcp-eth0' }])
  })

  it('for DHCP are sorted by interface, names with hyphens and dots included', () => {
    const sockets = ['dhcp-eth1', 'dhcp-br-lan.100', 'dhcp-eth1', 'tftp-eth1', 'dhcp-'].map(
      (name, index) => ({ fd: 3 + index, name }),
    )
    expect([...dhcpSocketsByInterface(sockets)]).toEqual([
      ['eth1', [3, 5]],
      ['br-lan.100', [4]],
    ])
  })
})
