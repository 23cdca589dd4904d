import { describe, expect, it } from 'vitest'
import type { PxeClient } from '../../src/dhcp/pxe-client.ts'
import { readPxeClient } from '../../src/dhcp/pxe-client.ts'
import { fixture, option, packetOf, request } from './support.ts'

function clientOf(bytes: Uint8Array): PxeClient {
  const result = readPxeClient(packetOf(bytes))
  if (!result.client) throw new Error(result.reason)
  return result.client
}

function reasonOf(bytes: Uint8Array): string {
  const result = readPxeClient(packetOf(bytes))
  return result.client ? `a client: ${JSON.stringify(result.client)}` : result.reason
}

interface Said {
  readonly o60?: string
  readonly o93?: string
  readonly o77?: string
  readonly o97?: string
  readonly o175?: boolean
  readonly mac?: string
}

function discover({ o60, o93, o77, o97, o175, mac }: Said): Uint8Array {
  const parts = [
    option(53, 1),
    o60 === undefined ? '' : option(60, o60),
    o93 === undefined ? '' : `5d 02 ${o93}`,
    o77 === undefined ? '' : o77,
    o97 === undefined ? '' : o97,
    o175 ? 'af 06 13 01 01 24 01 01' : '',
    'ff',
  ]
  return request({ options: parts.join(' '), ...(mac === undefined ? {} : { chaddr: mac }) })
}

const rawIpxe = '4d 04 69 50 58 45'
const pxe = (code: string) => `PXEClient:Arch:${code}:UNDI:003000`
const http = (code: string) => `HTTPClient:Arch:${code}:UNDI:003000`

/** The client table of the field cases: what each sends, and what it is. */
describe('a captured client is recognised', () => {
  it.each([
    ['bios-rom-discover', 'PXEClient', 'bios', 'tftp', 'none', 'x86_64', 'bios'],
    ['edk2-pxe-x64-discover', 'PXEClient', 'efi-x64', 'tftp', 'none', 'x86_64', 'uefi'],
    ['edk2-http-x64-discover', 'HTTPClient', 'efi-x64', 'http', 'http-boot', 'x86_64', 'uefi'],
    ['edk2-pxe-arm64-discover', 'PXEClient', 'efi-arm64', 'tftp', 'none', 'aarch64', 'uefi'],
    ['edk2-http-arm64-discover', 'HTTPClient', 'efi-arm64', 'http', 'http-boot', 'aarch64', 'uefi'],
    ['ipxe-bios-discover', 'PXEClient', 'bios', 'tftp', 'ipxe', 'x86_64', 'bios'],
    ['ipxe-efi-discover', 'PXEClient', 'efi-x64', 'tftp', 'ipxe', 'x86_64', 'uefi'],
    ['ipxe-bios-4011', 'PXEClient', 'bios', 'tftp', 'ipxe', 'x86_64', 'bios'],
    ['raspberry-pi-4-discover', 'PXEClient', 'raspberry-pi', 'tftp', 'none', 'aarch64', 'unknown'],
    ['u-boot-arm64-discover', 'other', 'uboot-arm64', 'config', 'pxelinux', 'aarch64', 'unknown'],
    ['infiniband-discover', 'PXEClient', 'bios', 'tftp', 'ipxe', 'x86_64', 'bios'],
  ])('%s', (name, bootClass, platform, fetch, loader, arch, firmware) => {
    expect(clientOf(fixture(name))).toMatchObject({ bootClass, platform, fetch, loader, arch, firmware })
  })

  it.each(['udhcpc-discover', 'dhclient-discover', 'grub-net-bootp-discover', 'raspberry-pi-4-request'])(
    '%s is no boot client',
    (name) => expect(reasonOf(fixture(name))).toBe('not-a-boot-client'),
  )

  it('with its MAC, its UUID as it stands in the packet, and the address that it holds', () => {
    expect(clientOf(fixture('edk2-pxe-x64-4011'))).toMatchObject({
      macs: ['52:54:00:ab:cd:ef'],
      uuid: '4709cd85-543f-9941-b0f1-525400abcdef',
      address: '192.0.2.55',
    })
  })

  it('and an iPXE with what it says it can do', () => {
    expect(clientOf(fixture('ipxe-bios-discover')).features).toEqual([
      ...[
        'pxeExtensions',
        'iscsi',
        'aoe',
        'http',
        'tftp',
        'dns',
        'bzimage',
        'multiboot',
        'pxe',
        'elf',
        'menu',
        'nfs',
      ],
    ])
    expect(clientOf(fixture('ipxe-efi-discover')).features).toContain('efi')
    expect(clientOf(fixture('edk2-pxe-x64-discover')).features).toEqual([])
  })
})

describe('option 93 (cases 11 and 12)', () => {
  it.each([
    ['00 00', 'bios', 'tftp', 'x86_64'],
    ['00 06', 'efi-ia32', 'tftp', undefined],
    ['00 07', 'efi-x64', 'tftp', 'x86_64'],
    ['00 09', 'efi-x64', 'tftp', 'x86_64'],
    ['00 0a', 'efi-arm32', 'tftp', undefined],
    ['00 0b', 'efi-arm64', 'tftp', 'aarch64'],
    ['00 0c', 'open-firmware', 'tftp', 'ppc64le'],
    ['00 0e', 'opal', 'config', 'ppc64le'],
    ['00 1b', 'efi-riscv64', 'tftp', undefined],
    ['00 27', 'efi-loong64', 'tftp', undefined],
    ['00 29', 'raspberry-pi', 'tftp', 'aarch64'],
  ])('%s of a PXEClient', (o93, platform, fetch, arch) => {
    const client = clientOf(discover({ o60: 'PXEClient', o93 }))
    expect([client.platform, client.fetch, client.arch, client.mismatch]).toEqual([
      platform,
      fetch,
      arch,
      undefined,
    ])
  })

  it.each([
    ['00 0f', 'efi-ia32', undefined],
    ['00 10', 'efi-x64', 'x86_64'],
    ['00 12', 'efi-arm32', undefined],
    ['00 13', 'efi-arm64', 'aarch64'],
    ['00 1c', 'efi-riscv64', undefined],
    ['00 28', 'efi-loong64', undefined],
  ])('%s of an HTTPClient', (o93, platform, arch) => {
    const client = clientOf(discover({ o60: 'HTTPClient', o93 }))
    expect([client.platform, client.fetch, client.loader, client.arch]).toEqual([
      platform,
      'http',
      'http-boot',
      arch,
    ])
  })

  it('may list several: the first counts', () => {
    const bytes = request({ options: `${option(53, 1)} ${option(60, 'PXEClient')} 5d 04 00 07 00 00 ff` })
    expect(clientOf(bytes).platform).toBe('efi-x64')
  })

  it.each([
    ['unknown', '00 7f'],
    ['known, but of machines that run none of our kernels', '00 02'],
    ['absent', undefined],
  ])('%s: the architecture in option 60 counts', (_, o93) => {
    expect(clientOf(discover({ o60: pxe('00007'), ...(o93 === undefined ? {} : { o93 }) })).platform).toBe(
      'efi-x64',
    )
    expect(reasonOf(discover({ o60: 'PXEClient', ...(o93 === undefined ? {} : { o93 }) }))).toBe(
      'architecture-unknown',
    )
  })

  it.each([
    ['decimal', 'PXEClient:Arch:00011', 'efi-arm64'],
    ['hexadecimal, from U-Boot', 'PXEClient:Arch:0000b:UNDI:003000', 'efi-arm64'],
    ['decimal where it could be both', 'PXEClient:Arch:00010:UNDI:003000', 'efi-arm32'],
  ])('in option 60 is %s', (_, o60, platform) => expect(clientOf(discover({ o60 })).platform).toBe(platform))

  it.each(['PXEClient:Arch:7:UNDI:003000', 'PXEClient:Arch:000007', 'PXEClient:Arch:zzzzz:UNDI'])(
    'in option 60 as %s is none',
    (o60) => expect(reasonOf(discover({ o60 }))).toBe('architecture-unknown'),
  )

  it('that contradicts option 60 is told, and option 60 counts', () => {
    const http7 = clientOf(discover({ o60: http('00016'), o93: '00 07' }))
    expect([http7.platform, http7.fetch, http7.mismatch]).toEqual([
      'efi-x64',
      'http',
      'http-class-with-pxe-architecture',
    ])
    const pxe16 = clientOf(discover({ o60: pxe('00016'), o93: '00 10' }))
    expect([pxe16.platform, pxe16.fetch, pxe16.mismatch]).toEqual([
      'efi-x64',
      'tftp',
      'pxe-class-with-http-architecture',
    ])
  })
})

describe('option 60 (case 40)', () => {
  it.each([
    'MSFT 5.0',
    'android-dhcp-13',
    'dhcpcd-9.4.1:Linux',
    'pxeclient',
    'httpclient',
    ' PXEClient',
    'HTTP',
  ])('%j is no boot client, whatever it requests', (o60) => {
    const wanted = '37 04 3c 42 43 5d'
    expect(
      reasonOf(request({ options: `${option(53, 1)} ${option(60, o60)} 5d 02 00 07 ${wanted} ff` })),
    ).toBe('not-a-boot-client')
  })

  it('absent is no boot client', () => expect(reasonOf(discover({ o93: '00 07' }))).toBe('not-a-boot-client'))

  it('counts by its prefix: iPXE copies a bare PXEClient from its answer', () => {
    expect(clientOf(discover({ o60: 'PXEClient', o93: '00 07', o77: rawIpxe })).loader).toBe('ipxe')
  })

  it('of a petitboot may be anything: option 93 tells', () => {
    expect(clientOf(discover({ o60: 'udhcp 1.24.2', o93: '00 0e' }))).toMatchObject({
      platform: 'opal',
      bootClass: 'other',
    })
    expect(clientOf(discover({ o93: '00 0c' }))).toMatchObject({
      platform: 'open-firmware',
      bootClass: 'other',
    })
  })

  it.each([
    ['U-Boot.armv8', '00 16', 'uboot-arm64', 'aarch64'],
    ['U-Boot.armv8', undefined, 'uboot-arm64', 'aarch64'],
    ['U-Boot.armv7', undefined, 'uboot-arm32', undefined],
    ['U-Boot.arm', '00 15', 'uboot-arm32', undefined],
    ['U-Boot', '00 00', 'bios', 'x86_64'],
  ])('%s with option 93 %s (case 27)', (o60, o93, platform, arch) => {
    const client = clientOf(discover({ o60, ...(o93 === undefined ? {} : { o93 }) }))
    expect([client.platform, client.fetch, client.arch]).toEqual([platform, 'config', arch])
  })

  it('of U-Boot in its EFI boot method is ordinary UEFI', () => {
    expect(clientOf(discover({ o60: 'PXEClient:Arch:00011', o93: '00 0b' }))).toMatchObject({
      platform: 'efi-arm64',
      fetch: 'tftp',
      loader: 'none',
    })
  })
})

describe('an iPXE is told by its marks (cases 15 and 16)', () => {
  it.each([
    ['user class as raw text', { o77: rawIpxe }],
    ['user class with its length in front', { o77: '4d 05 04 69 50 58 45' }],
    ['second of two user classes', { o77: '4d 09 03 61 62 63 04 69 50 58 45' }],
    ['option 175 alone, as vendors’ builds send', { o175: true }],
  ])('%s', (_, said) =>
    expect(clientOf(discover({ o60: pxe('00007'), o93: '00 07', ...said })).loader).toBe('ipxe'),
  )

  it.each([
    ['no user class', {}],
    ['an empty user class', { o77: '4d 00' }],
    ['a length that runs over the end', { o77: '4d 04 04 69 50 58' }],
    ['another user class', { o77: '4d 04 67 50 58 45' }],
  ])('%s: not, and the client is served all the same', (_, said) => {
    expect(clientOf(discover({ o60: pxe('00007'), o93: '00 07', ...said })).loader).toBe('none')
  })
})

describe('a Raspberry Pi is told by its address (case 45)', () => {
  it.each(['b827eb', 'dca632', 'e45f01', '28cdc1', 'd83add', '2ccf67'])('%s', (prefix) => {
    const said = { o60: pxe('00000'), o93: '00 00', mac: `${prefix}010203` }
    expect(clientOf(discover(said))).toMatchObject({ platform: 'raspberry-pi', arch: 'aarch64' })
  })

  it('but not when UEFI firmware on it asks, nor for other vendors', () => {
    expect(clientOf(discover({ o60: pxe('00011'), o93: '00 0b', mac: 'dca632010203' })).platform).toBe(
      'efi-arm64',
    )
    expect(clientOf(discover({ o60: pxe('00000'), o93: '00 00', mac: '525400010203' })).platform).toBe('bios')
  })

  it('and its serial number in option 97 is no UUID', () => {
    expect(clientOf(fixture('raspberry-pi-4-discover')).uuid).toBeUndefined()
  })
})

describe('option 97 (case 155)', () => {
  const uuidOf = (o97: string) => clientOf(discover({ o60: pxe('00007'), o93: '00 07', o97 })).uuid

  it('is read in the order in which it stands', () => {
    expect(uuidOf('61 11 00 00112233 4455 6677 8899AABBCCDDEEFF')).toBe(
      '00112233-4455-6677-8899-aabbccddeeff',
    )
  })

  it.each([
    ['of another type', '61 11 01 00112233 4455 6677 8899AABBCCDDEEFF'],
    ['too short', '61 10 00 00112233 4455 6677 8899AABBCCDDEE'],
    ['all zero', '61 11 00 00000000 0000 0000 0000000000000000'],
    ['all ones', '61 11 00 ffffffff ffff ffff ffffffffffffffff'],
    ['empty', '61 00'],
  ])('%s is none', (_, o97) => expect(uuidOf(o97)).toBeUndefined())
})
