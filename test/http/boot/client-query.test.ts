import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formats } from '../../../src/config/formats.ts'
import { bootClientFromQuery } from '../../../src/http/boot/client-query.ts'
import { parseQuery } from '../../../src/http/boot/query-string.ts'

function clientOf(query: string) {
  return bootClientFromQuery(parseQuery(query), '192.0.2.55')
}

test('what an iPXE says of its machine becomes a boot client', () => {
  expect(
    clientOf(
      'mac=52-54-00-ab-cd-ef&uuid=85CD0947-1111-2222-3333-444444444444&arch=x86_64&platform=efi&serial=ABC%20123&asset=42',
    ),
  ).toEqual({
    macs: ['52:54:00:ab:cd:ef'],
    uuid: '85cd0947-1111-2222-3333-444444444444',
    serial: 'ABC 123',
    arch: 'x86_64',
    firmware: 'uefi',
    loader: 'ipxe',
    address: '192.0.2.55',
  })
})

test('an empty query is a machine that told nothing', () => {
  expect(clientOf('')).toEqual({
    macs: [],
    uuid: undefined,
    serial: undefined,
    arch: undefined,
    firmware: 'unknown',
    loader: 'ipxe',
    address: '192.0.2.55',
  })
})

describe('MAC addresses (field cases 103, 148)', () => {
  test.each([
    '52:54:00:AB:CD:EF',
    '52-54-00-ab-cd-ef',
    '5254.00ab.cdef',
    '525400ABCDEF',
    '52%3A54%3a00%3Aab%3Acd%3Aef',
    '%2052:54:00:ab:cd:ef%0a',
  ])('%s is the same machine', (mac) => {
    expect(clientOf(`mac=${mac}`).macs).toEqual(['52:54:00:ab:cd:ef'])
  })

  test('several are kept in order, each once; unreadable ones are left out', () => {
    expect(clientOf('mac=525400000002&mac=nope&mac=52:54:00:00:00:01&mac=52-54-00-00-00-02').macs).toEqual([
      '52:54:00:00:00:02',
      '52:54:00:00:00:01',
    ])
    expect(clientOf('mac=2:4:0:b:d:f&mac=ff:ff:ff:ff:ff:ff&mac=00:00:00:00:00:00').macs).toEqual([])
  })

  test('no machine has hundreds', () => {
    const many = Array.from({ length: 60 }, (_, index) => `mac=5254000000${10 + index}`).join('&')
    expect(clientOf(many).macs).toHaveLength(16)
  })
})

describe('vendor text (field case 121)', () => {
  test.each([
    'No%20Asset%20Tag',
    'To%20Be%20Filled%20By%20O.E.M.',
    'to be filled by o.e.m.',
    'Not%20Specified',
    'Default%20string',
    '0123456789',
    'System%20Serial%20Number',
    'None',
    '0',
    '00000000',
    'XXXXXXXX',
    '%20%20',
    '%00',
    '${serial}',
    '%24%7Bserial%7D',
    'a'.repeat(129),
  ])('the serial %s names no machine', (serial) => {
    expect(clientOf(`serial=${serial}`).serial).toBeUndefined()
  })

  test('a serial that a record may have is heard from its machine', () => {
    const vendors = fc
      .constantFrom('Default string', 'To be filled by O.E.M.', 'None', '0123456789', '0', 'xx', '${serial}')
      .chain((text) => fc.constantFrom(text, text.toUpperCase(), text.toLowerCase()))
    const serial = fc.oneof(vendors, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }))
    fc.assert(
      fc.property(serial, (text) => {
        fc.pre(formats.serial.problem(text) === undefined)
        expect(clientOf(`serial=${encodeURIComponent(text)}`).serial).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  test('white space and control bytes around and inside are dropped', () => {
    expect(clientOf('serial=%20VMware-42%201d%20e5%0d%0a').serial).toBe('VMware-42 1d e5')
    expect(clientOf('serial=AB%00%1bC').serial).toBe('ABC')
  })

  test('placeholder and unexpanded UUIDs are not said', () => {
    expect(clientOf('uuid=00000000-0000-0000-0000-000000000000').uuid).toBeUndefined()
    expect(clientOf('uuid=03000200-0400-0500-0006-000700080009').uuid).toBeUndefined()
    expect(clientOf('uuid=${uuid}&mac=${netX/mac:hexhyp}')).toMatchObject({ uuid: undefined, macs: [] })
  })
})

describe('architecture and firmware', () => {
  test.each([
    ['arch=i386&platform=pcbios', 'x86_64', 'bios'],
    ['arch=i386&platform=pcbios&lm=1', 'x86_64', 'bios'],
    ['arch=i386&platform=pcbios&lm=0', undefined, 'bios'],
    ['arch=i386&platform=efi', undefined, 'uefi'],
    ['arch=x86_64&platform=efi', 'x86_64', 'uefi'],
    ['arch=arm64&platform=efi', 'aarch64', 'uefi'],
    ['arch=ARM64&platform=EFI', 'aarch64', 'uefi'],
    ['arch=riscv64&platform=efi', undefined, 'uefi'],
    ['arch=${buildarch}&platform=${platform}', undefined, 'unknown'],
    ['platform=linux', undefined, 'unknown'],
  ])('%s', (query, arch, firmware) => {
    expect(clientOf(query)).toMatchObject({ arch, firmware })
  })
})

test('strings made to inject change nothing but what names the machine (field case 117)', () => {
  const clean = clientOf('mac=525400abcdef&arch=x86_64&platform=efi')
  for (const text of ['a && shell', 'x || reboot', '${cwduri}', '%0Ashell', '\u0000', '../..']) {
    const value = encodeURIComponent(text)
    const said = clientOf(
      `mac=525400abcdef&arch=x86_64&platform=efi&asset=${value}&hostname=${value}&x=${value}`,
    )
    expect(said).toEqual(clean)
  }
})

test('whatever is said, the fields are typed and bounded', () => {
  const key = fc.constantFrom('mac', 'uuid', 'serial', 'arch', 'platform', 'lm', 'asset')
  const pair = fc.tuple(key, fc.string({ unit: 'binary', maxLength: 150 }))
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 20 }), (pairs) => {
      const client = bootClientFromQuery(pairs, undefined)
      expect(client.serial ?? 'x').not.toMatch(/\p{Cc}/u)
      expect((client.serial ?? '').length).toBeLessThanOrEqual(128)
      for (const mac of client.macs) expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/)
    }),
  )
})
