import { describe, expect, it } from 'vitest'
import { checkDhcpSettings } from '../../src/dhcp/check-settings.ts'
import { type ExtraOption, parseExtraOption } from '../../src/dhcp/extra-option.ts'
import { defaultLoaderFiles } from '../../src/dhcp/loader-ladder.ts'
import { proxySettings, serverSettings, subnetSettings } from './engine-support.ts'
import { ip, toHex } from './support.ts'

const url = 'http://192.0.2.10:8080'
const found = (settings: Parameters<typeof checkDhcpSettings>[0], baseUrl = url) =>
  checkDhcpSettings(settings, baseUrl).map(({ severity, message }) => `${severity}: ${message}`)

describe('settings', () => {
  it('that are fine give no findings', () => {
    expect(found(proxySettings)).toEqual([])
    expect(found(serverSettings())).toEqual([])
    expect(found(proxySettings, 'http://[2001:db8::10]:8080')).toEqual([])
  })

  it.each([
    [
      'a range outside',
      { ranges: [{ first: ip('192.0.3.1'), last: ip('192.0.3.9') }] },
      /error: .* range 192\.0\.3\.1-192\.0\.3\.9 is not in it/,
    ],
    [
      'a range that ends outside',
      { ranges: [{ first: ip('192.0.2.1'), last: ip('192.0.3.9') }] },
      /is not in it/,
    ],
    [
      'a range the wrong way round',
      { ranges: [{ first: ip('192.0.2.9'), last: ip('192.0.2.1') }] },
      /wrong way round/,
    ],
    [
      'ranges that overlap',
      {
        ranges: [
          { first: ip('192.0.2.5'), last: ip('192.0.2.20') },
          { first: ip('192.0.2.1'), last: ip('192.0.2.5') },
        ],
      },
      /overlap/,
    ],
    ['a router elsewhere', { routers: [ip('10.0.0.1')] }, /a router must be in it/],
    ['leases of no time', { leaseSeconds: 0 }, /from 2 minutes/],
    [
      'a network of multicast',
      { text: '224.0.0.0/24', ranges: [], routers: [] },
      /not one that machines can be in/,
    ],
  ])('%s are refused', (_, changes, message) => {
    expect(found(serverSettings({ subnets: [subnetSettings(changes)] }))).toEqual([
      expect.stringMatching(message),
    ])
  })

  it('without a subnet, or with two that overlap, are refused', () => {
    expect(found(serverSettings({ subnets: [] }))).toEqual(['error: server mode needs at least one subnet'])
    const wider = subnetSettings({ text: '192.0.2.0/23', ranges: [] })
    expect(found(serverSettings({ subnets: [subnetSettings(), wider] }))).toEqual([
      'error: subnets 192.0.2.0/24 and 192.0.2.0/23 overlap',
    ])
  })

  it('with a loader that DHCP cannot name are refused; with a long name they are warned about (case 26)', () => {
    const loaders = (name: string) => ({ ...proxySettings, loaders: { bios: name } })
    expect(found(loaders('a b.kpxe'))).toEqual([expect.stringMatching(/^error: loader "a b.kpxe"/)])
    expect(found(loaders('ü.kpxe'))).toEqual([expect.stringMatching(/^error/)])
    expect(found(loaders(`${'a'.repeat(128)}`))).toEqual([
      expect.stringMatching(/^warning: .*option 67 alone/),
    ])
    expect(found(loaders(`${'a'.repeat(127)}`))).toEqual([])
  })

  it('with shim beside another DHCP server are warned about (case 31)', () => {
    const loaders = { ...defaultLoaderFiles, 'efi-x64': 'debian/shimx64.efi' }
    expect(found({ ...proxySettings, loaders })).toEqual([
      expect.stringMatching(/^warning: loader "debian\/shimx64.efi".*GRUB 2\.12/),
    ])
    expect(found(serverSettings({ loaders }))).toEqual([])
  })

  it('with a name instead of an address need a DNS server, and are warned about as proxy (case 54)', () => {
    const named = 'http://boot.example:8080'
    expect(found(proxySettings, named)).toEqual([
      expect.stringMatching(/^warning: the boot address is a name \(boot\.example\)/),
    ])
    expect(found(serverSettings(), named)).toEqual([])
    expect(found(serverSettings({ subnets: [subnetSettings({ dnsServers: [] })] }), named)).toEqual([
      expect.stringMatching(/^error: .*192\.0\.2\.0\/24 has no DNS server/),
    ])
    expect(found(proxySettings, 'nothing')).toEqual(['error: "nothing" is no URL'])
  })
})

describe('an extra option', () => {
  const read = (extra: ExtraOption): string => {
    const result = parseExtraOption(extra)
    return result.option ? toHex(result.option.data) : result.problem
  }

  it.each([
    [{ code: 100, type: 'text', value: 'CET' }, '43 45 54'],
    [{ code: 42, type: 'addresses', value: '192.0.2.1, 192.0.2.2' }, 'c0 00 02 01 c0 00 02 02'],
    [{ code: 19, type: 'byte', value: '1' }, '01'],
    [{ code: 26, type: 'uint16', value: '9000' }, '23 28'],
    [{ code: 2, type: 'uint32', value: '3600' }, '00 00 0e 10'],
    [{ code: 121, type: 'hex', value: '18:c0 00 02 C0000201' }, '18 c0 00 02 c0 00 02 01'],
  ] as const)('%o', (extra, expected) => expect(read(extra)).toBe(expected))

  it.each([
    [{ code: 256, type: 'text', value: 'x' }, 'there is no option 256'],
    [{ code: 1.5, type: 'text', value: 'x' }, 'there is no option 1.5'],
    [{ code: 67, type: 'text', value: 'x' }, 'option 67 is set by the service itself'],
    [{ code: 0, type: 'hex', value: '' }, 'option 0 is set by the service itself'],
    [
      { code: 100, type: 'text', value: 'a\nb' },
      'option 100: "a\nb" is not text of printable ASCII characters',
    ],
    [
      { code: 42, type: 'addresses', value: '192.0.2.1,' },
      'option 42: "192.0.2.1," is not a list of IPv4 addresses, separated by commas',
    ],
    [{ code: 19, type: 'byte', value: '256' }, 'option 19: "256" is not a number from 0 to 255'],
    [{ code: 26, type: 'uint16', value: '-1' }, 'option 26: "-1" is not a number from 0 to 65535'],
    [{ code: 121, type: 'hex', value: 'abc' }, 'option 121: "abc" is not a row of hex digits, two a byte'],
    [{ code: 121, type: 'hex', value: '00'.repeat(1025) }, 'option 121 is longer than 1024 bytes'],
  ] as const)('%o is refused', (extra, problem) => expect(read(extra)).toBe(problem))
})
