import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/config/duration.ts'
import { type FormatName, formats } from '../../src/config/formats.ts'
import { isLoopback, parseBootAddress, parseListenAddress } from '../../src/config/listen-address.ts'
import { parseMemorySize } from '../../src/config/memory-size.ts'
import { parseUntil } from '../../src/config/until.ts'
import { parseBaseUrl } from '../../src/config/web-url.ts'

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1d1h1m1s', 90_061_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '15', '15 m', '-1s', '1.5h', '1m1h', '15M', '1e3s', '9999999s', 'PT15M'])(
    '%j is none',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )
})

describe('sizes of memory', () => {
  it.each([
    ['64KiB', 65_536],
    ['8MiB', 8_388_608],
    ['1GiB', 1_073_741_824],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseMemorySize(text)).toBe(bytes)
    expect(formats['capture-memory'].problem(text)).toBeUndefined()
  })

  it.each(['', '8', '8MB', '8 MiB', '0MiB', '-1MiB', '1.5MiB', '12345678KiB', '63KiB', '2GiB', '1e3KiB'])(
    '%j is none that a capture may have',
    (text) => {
      expect(formats['capture-memory'].problem(text)).toBeDefined()
    },
  )
})

describe('listen addresses', () => {
  it.each([
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    ['[::]:80', { host: '::', port: 80 }],
    ['[fe80::1]:8080', { host: 'fe80::1', port: 8080 }],
    [':8080', { port: 8080 }],
    ['localhost:8081', { host: '127.0.0.1', port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ])('%s', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address)
  })

  it.each([
    '',
    '80',
    '0.0.0.0',
    '0.0.0.0:',
    '0.0.0.0:65536',
    '0.0.0:80',
    '::1:80',
    '[127.0.0.1]:80',
    '[fe80::1%eth0]:80',
    'example.org:80',
    'http://0.0.0.0:80',
    '0.0.0.0:80 ',
  ])('%j is none', (text) => {
    expect(parseListenAddress(text)).toBeUndefined()
  })

  it('only loopback addresses are loopback', () => {
    expect(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1'].map(loopback)).toEqual([true, true, true])
    expect([':1', '0.0.0.0:1', '192.0.2.1:1', '[::]:1'].map(loopback)).toEqual([false, false, false, false])
  })
  const loopback = (text: string) => isLoopback(parseListenAddress(text) ?? { port: 0 })
})

describe('boot addresses', () => {
  it.each([
    ['192.0.2.10', { address: '192.0.2.10' }],
    ['192.0.2.10:8080', { address: '192.0.2.10', port: 8080 }],
    ['2001:db8::1', { address: '2001:db8::1' }],
    ['[2001:db8::1]:8080', { address: '2001:db8::1', port: 8080 }],
    ['boot.example', { address: 'boot.example' }],
    ['boot-1.example:80', { address: 'boot-1.example', port: 80 }],
  ])('%s', (text, address) => {
    expect(parseBootAddress(text)).toEqual(address)
  })

  it.each([
    '',
    ':80',
    '192.0.2',
    '192.0.2.256',
    'boot_1',
    '-x.example',
    'http://192.0.2.1',
    'a/b',
    'a:0',
    '${ip}',
    '0.0.0.0',
    '[::]:80',
    '::',
    '0::0',
  ])('%j is none', (text) => {
    expect(parseBootAddress(text)).toBeUndefined()
  })
})

describe('base URLs', () => {
  it('get the slash that they mean', () => {
    expect(parseBaseUrl('http://mirror.example/fcos')).toBe('http://mirror.example/fcos/')
    expect(parseBaseUrl('https://mirror.example')).toBe('https://mirror.example/')
  })
  it.each([
    'http://mirror.example/?a=b',
    'http://mirror.example/#x',
    'ftp://mirror.example/',
    '/fcos',
    'http://',
  ])('%j is none', (text) => {
    expect(parseBaseUrl(text)).toBeUndefined()
  })
})

describe('the end of a pin', () => {
  it('a date counts to its end, in UTC', () => {
    expect(parseUntil('2026-12-31')).toBe(Date.UTC(2027, 0, 1))
    expect(parseUntil('2028-02-29')).toBe(Date.UTC(2028, 2, 1))
  })
  it('a moment is that moment', () => {
    expect(parseUntil('2026-12-31T18:00:00Z')).toBe(Date.UTC(2026, 11, 31, 18))
    expect(parseUntil('2026-12-31T18:00+02:00')).toBe(Date.UTC(2026, 11, 31, 16))
  })
  it.each([
    '',
    '2026-13-01',
    '2026-02-29',
    '2026-12-32',
    '31.12.2026',
    '2026-12-31T18:00:00',
    '2026-02-30T00:00:00Z',
    '2026',
    'tomorrow',
  ])('%j is none', (text) => {
    expect(parseUntil(text)).toBeUndefined()
  })
})

describe('texts of a kind', () => {
  /** Good ones, then bad ones with the reason in brackets (empty: none). */
  const table: readonly [FormatName, readonly string[], readonly (readonly [string, string])[]][] = [
    [
      'duration',
      ['1s', '7d'],
      [
        ['0s', 'it is too short'],
        ['8d', 'it is too long'],
        ['soon', ''],
      ],
    ],
    [
      'long-duration',
      ['1h', '400d', '3650d'],
      [
        ['59m', 'it is too short'],
        ['3651d', 'it is too long'],
        ['a year', ''],
      ],
    ],
    [
      // field case 148
      'mac',
      ['52:54:00:AB:CD:EF', '52-54-00-ab-cd-ef', '5254.00ab.cdef', '525400ABCDEF'],
      [
        ['2:4:0:b:d:f', 'each part needs two digits'],
        ['53:54:00:ab:cd:ef', 'multicast and all-zero addresses name no machine'],
        ['00:00:00:00:00:00', 'multicast and all-zero addresses name no machine'],
        ['ff:ff:ff:ff:ff:ff', 'multicast and all-zero addresses name no machine'],
        ['52:54:00:ab:cd', ''],
        ['52:54:00:ab:cd:eg', ''],
      ],
    ],
    [
      'uuid',
      ['4c4c4544-0042-3510-8056-b4c04f4d3132', '4C4C4544-0042-3510-8056-B4C04F4D3132'],
      [
        ['03000200-0400-0500-0006-000700080009', 'vendors put it into every machine'],
        ['4c4c4544', ''],
      ],
    ],
    [
      // field case 118
      'kernel-argument',
      ['console=ttyS0,115200n8', 'a;b', 'ip=::::h:eth0:none', 'x=$y', 'a#b'],
      [
        ['a b', 'it has a blank, a control character or a character outside ASCII'],
        ['a\tb', 'it has a blank, a control character or a character outside ASCII'],
        ['x=${net0/mac}', 'iPXE would expand it'],
        [';', 'iPXE would end the command there'],
        ['&&', 'iPXE would end the command there'],
        ['||', 'iPXE would end the command there'],
        ['#x', 'iPXE would take it for a comment'],
        ['x\\', 'iPXE would join the next line'],
        ['', 'it is empty'],
        ['initrd=main', 'the service sets it itself'],
        ['coreos.inst.install_dev=/dev/sda', 'the service sets it itself'],
      ],
    ],
    // field case 163
    [
      'http-url',
      ['https://builds.example/streams/stable.json', 'http://127.0.0.1:9000/x?y=z'],
      [
        ['file:///etc/passwd', 'its scheme is file'],
        ['https://user:secret@builds.example/', 'it holds a user name or a password'],
        ['https://builds.example/#x', 'it has a fragment'],
        ['https://builds.example/a b', 'it is not a URL'],
        ['builds.example', 'it is not a URL'],
      ],
    ],
    [
      'origin',
      ['https://mirror.example:8443', 'http://127.0.0.1/'],
      [['https://mirror.example/x', 'it has a path']],
    ],
    [
      'proxy-url',
      ['http://u:p@proxy.example:3128'],
      [
        ['socks5://proxy.example', 'its scheme is socks5'],
        ['http://proxy.example/x', 'it has a path'],
      ],
    ],
    [
      'device',
      ['/dev/sda', '/dev/disk/by-id/wwn-0x5000c500a1b2c3d4', '/dev/mapper/mpatha'],
      [
        ['sda', ''],
        ['/dev/', ''],
        ['/dev/../etc/passwd', ''],
        ['/dev/sda ', ''],
        ['/dev//sda', ''],
      ],
    ],
    [
      'release',
      ['44.20260707.3.1', '47.83.202103251640-0', '10.0.20251103-0'],
      [
        ['', ''],
        ['../x', ''],
        ['a b', ''],
      ],
    ],
    [
      'name',
      ['fcos-stable', 'rhcos-4.22', '1'],
      [
        ['-x', ''],
        ['a/b', ''],
        ['', ''],
        ['x'.repeat(64), ''],
        ['ä', ''],
      ],
    ],
    [
      'file-name',
      ['ipxe.efi', 'snponly-x86_64.efi'],
      [
        ['../ipxe.efi', ''],
        ['.hidden', ''],
        ['a/b', ''],
      ],
    ],
    [
      'serial',
      ['VMware-42 1c 0b', 'ABC123'],
      [
        [' ABC', ''],
        ['ABC ', ''],
        ['A\nB', ''],
        ['', ''],
        // Whatever `/ipxe` drops: no machine would ever be known by it (field case 121).
        ['Default string', 'vendors put it into every machine'],
        ['To be filled by O.E.M.', 'vendors put it into every machine'],
        ['None', 'vendors put it into every machine'],
        ['Not Specified', 'vendors put it into every machine'],
        ['No Asset Tag', 'vendors put it into every machine'],
        ['0123456789', 'vendors put it into every machine'],
        ['0', 'vendors put it into every machine'],
        ['XXXXXXX', 'vendors put it into every machine'],
        ['${serial}', 'iPXE would fill something in'],
      ],
    ],
    [
      'header-name',
      ['Authorization', 'X-Token'],
      [
        ['Host', 'the service sets it itself'],
        ['Range', 'the service sets it itself'],
        ['a b', ''],
        ['a:', ''],
      ],
    ],
    [
      'header-value',
      ['Bearer abc', 'x'],
      [
        ['a\nb', ''],
        ['', ''],
        [' x', ''],
      ],
    ],
    [
      'line',
      ['NIC regression in 44', 'ü'],
      [
        ['two\nlines', ''],
        ['\u202eevil', ''],
        ['', ''],
      ],
    ],
    [
      'label',
      ['site', 'example.org/rack'],
      [
        ['-x', ''],
        ['a b', ''],
      ],
    ],
    [
      'path',
      ['/var/lib/pilotlight', './data', 'hosts.d'],
      [
        ['', ''],
        ['a\0b', ''],
      ],
    ],
    ['config-map-stream', ['', 'rhel-9'], [['a b', '']]],
    [
      'interface',
      ['eth1', 'enp1s0.100'],
      [
        ['a/b', ''],
        ['a b', ''],
        ['a-name-too-long-', ''],
      ],
    ],
    ['arch', ['x86_64', 'amd64', 'arm64'], [['i386', '']]],
    ['sha256', ['a'.repeat(64), 'A'.repeat(64)], [['a'.repeat(63), '']]],
    [
      'platform',
      ['metal', 'openstack'],
      [
        ['Metal', ''],
        ['', ''],
      ],
    ],
    [
      'ignition-url',
      ['http://192.0.2.1/x.ign', 's3://bucket/x'],
      [
        ['file:///x', 'an Ignition URL is http, https, tftp, s3 or gs'],
        ['http://x/${mac}', 'iPXE would expand it'],
      ],
    ],
    [
      'environment-variable',
      ['TOKEN', '_x1'],
      [
        ['1X', ''],
        ['A-B', ''],
      ],
    ],
    [
      'text',
      ['{"ignition": {}}'],
      [
        ['', ''],
        ['a\0', ''],
      ],
    ],
  ]

  it.each(table)('%s', (name, good, bad) => {
    expect(good.map((text) => [text, formats[name].problem(text)])).toEqual(
      good.map((text) => [text, undefined]),
    )
    expect(bad.map(([text]) => [text, formats[name].problem(text)])).toEqual(bad)
  })
})
