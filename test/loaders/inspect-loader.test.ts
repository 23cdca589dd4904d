import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { subjectName } from '../../src/loaders/certificates.ts'
import { inspectLoader } from '../../src/loaders/inspect-loader.ts'
import {
  makeBiosProgram,
  makeGrub,
  makeIpxe,
  makePe,
  makeShim,
  signedBy,
  testAuthority,
  testSigner,
  vendorListSection,
} from '../fakes/loader-images.ts'

describe('for which firmware a loader is (field case 14)', () => {
  it.each([
    [0x8664, 'efi-x64'],
    [0xaa64, 'efi-arm64'],
    [0x014c, 'efi-ia32'],
    [0x01c2, 'efi-arm32'],
    [0x5064, 'efi-riscv64'],
    [0x6264, 'efi-loong64'],
  ])('PE machine %i is %s', (machine, platform) => {
    const is32Bit = machine === 0x014c || machine === 0x01c2
    expect(inspectLoader(makePe({ machine, is32Bit }))).toMatchObject({ format: 'pe', machine, platform })
  })

  it('an EFI driver is for it too, a Windows program is for none', () => {
    expect(inspectLoader(makePe({ subsystem: 11 })).platform).toBe('efi-x64')
    expect(inspectLoader(makePe({ subsystem: 3 })).platform).toBeUndefined()
  })

  it('a machine that no EFI has is for none', () => {
    expect(inspectLoader(makePe({ machine: 0x1234 })).platform).toBeUndefined()
  })

  it('what begins with a jump is for a BIOS', () => {
    expect(inspectLoader(makeBiosProgram('anything'))).toMatchObject({ format: 'bios', platform: 'bios' })
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('#!ipxe\nboot\n')],
    ['a DOS program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200)])],
    ['an ELF file', Buffer.from('7f454c4601010100', 'hex')],
    ['an error page', Buffer.from('<html><title>404</title></html>')],
  ])('%s is for none', (_name, bytes) => {
    expect(inspectLoader(bytes)).toEqual({ format: 'other', kind: 'unknown', signers: [], trusted: [] })
  })
})

describe('what a loader is and what it can do', () => {
  it.each([
    [['http'], { http: true, https: false, vlan: false }],
    [['http', 'https', 'vcreate'], { http: true, https: true, vlan: true }],
    // Part of another word is not that word.
    [['httpd', 'xhttps'], { http: false, https: false, vlan: false }],
  ])('iPXE with %j', (words, features) => {
    const found = inspectLoader(makeIpxe({ words }))
    expect(found).toMatchObject({ kind: 'ipxe', version: '1.21.1+ (g1234)', features })
  })

  it("iPXE's own line of the section for signed images says its version", () => {
    const section = 'ipxe,1,iPXE,ipxe.efi,1.21.1+git20250501,https://ipxe.org\n'
    expect(inspectLoader(makePe({ sections: { '.sbat': section } }))).toMatchObject({
      kind: 'ipxe',
      version: '1.21.1+git20250501',
    })
  })

  it('a compressed iPXE for a BIOS is recognised, and shows no features', () => {
    const found = inspectLoader(makeBiosProgram('PXE->EB:\0'))
    expect(found.kind).toBe('ipxe')
    expect('features' in found || 'version' in found).toBe(false)
  })

  it('PXELINUX says its version; only lpxelinux knows HTTP', () => {
    const plain = inspectLoader(makeBiosProgram('\r\nPXELINUX 6.04 PXE 20200816\0'))
    expect(plain).toMatchObject({ kind: 'pxelinux', version: '6.04', features: { http: false } })
    const withHttp = inspectLoader(makeBiosProgram('PXELINUX 6.04 lwIP 20200816\0GET %s HTTP/1.0\r\n'))
    expect(withHttp.features?.http).toBe(true)
  })

  it("GRUB with a distribution's patch level; https of the firmware is not counted on (field case 100)", () => {
    const section = 'grub,5,FSF,grub,2.06,https://x\ngrub.debian,5,Debian,grub2,2.06-13+deb12u1,https://x\n'
    const found = inspectLoader(makeGrub({ sections: { '.sbat': section, mods: '\0http\0https\0' } }))
    expect(found).toMatchObject({
      kind: 'grub',
      version: '2.06-13+deb12u1',
      features: { http: true, https: false },
    })
  })

  it('shim is what carries certificates; what only shares its section is not', () => {
    expect(inspectLoader(makeShim()).kind).toBe('shim')
    const mokManager = makePe({ sections: { '.sbat': 'shim,4,UEFI shim,shim,1,https://x\n' } })
    expect(inspectLoader(mokManager).kind).toBe('unknown')
  })
})

describe('who signed it, and whom a shim trusts', () => {
  it('names the signer among the certificates that came along', () => {
    const { signers } = inspectLoader(makePe({ certificates: signedBy(testSigner, testAuthority) }))
    expect(signers.map(subjectName)).toEqual(['mirror.example'])
  })

  it('names each of several signers', () => {
    const certificates = Buffer.concat([signedBy(testSigner), signedBy(testAuthority)])
    expect(inspectLoader(makePe({ certificates })).signers.map(subjectName)).toEqual([
      'mirror.example',
      'Pilotlight test authority',
    ])
  })

  it('nobody signed an image without a table', () => {
    expect(inspectLoader(makePe()).signers).toEqual([])
  })

  it('one certificate, or a list of them', () => {
    expect(inspectLoader(makeShim()).trusted.map(subjectName)).toEqual(['Pilotlight test authority'])
    const several = makeShim({ sections: { '.vendor_cert': vendorListSection(testSigner, testAuthority) } })
    expect(inspectLoader(several).trusted.map(subjectName)).toEqual([
      'mirror.example',
      'Pilotlight test authority',
    ])
  })
})

describe('bytes that somebody made up', () => {
  const images = [makeShim(), makeGrub(), makeIpxe(), makeBiosProgram('PXELINUX 6.04')]

  it('never make it throw, wherever they are cut', () => {
    for (const image of images) {
      for (let length = 0; length < image.length; length += 7) inspectLoader(image.subarray(0, length))
    }
  })

  it('never make it throw, whatever is changed in them', () => {
    const change = fc.tuple(fc.nat(0xffffff), fc.nat(255))
    fc.assert(
      fc.property(fc.constantFrom(...images), fc.array(change, { maxLength: 12 }), (image, changes) => {
        const bytes = Buffer.from(image)
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        const { format, kind } = inspectLoader(bytes)
        expect(['pe', 'bios', 'other']).toContain(format)
        expect(['ipxe', 'grub', 'shim', 'pxelinux', 'unknown']).toContain(kind)
      }),
      { numRuns: 3000 },
    )
  })
})

const packaged = [
  ['/usr/lib/ipxe/undionly.kpxe', { platform: 'bios', kind: 'ipxe' }],
  ['/usr/lib/ipxe/snponly.efi', { platform: 'efi-x64', kind: 'ipxe', features: { http: true } }],
  ['/usr/lib/PXELINUX/lpxelinux.0', { platform: 'bios', kind: 'pxelinux', features: { http: true } }],
  ['/usr/lib/shim/shimx64.efi.signed', { platform: 'efi-x64', kind: 'shim' }],
  ['/usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed', { platform: 'efi-x64', kind: 'grub' }],
] as const

describe('loaders of Debian packages, where they are installed', () => {
  for (const [path, expected] of packaged) {
    const isHere = existsSync(path)
    if (!isHere) console.info(`not checked: ${path} is not installed`)
    it.skipIf(!isHere)(`${path} is what it is`, () => {
      expect(inspectLoader(readFileSync(path))).toMatchObject(expected)
    })
  }

  const signed = packaged.slice(3).map(([path]) => path)
  it.skipIf(!signed.every((path) => existsSync(path)))('are signed by whom one expects', () => {
    const [shim, grub] = signed.map((path) => inspectLoader(readFileSync(path)))
    expect(shim?.signers.map(subjectName).join()).toContain('Microsoft')
    expect(shim?.trusted.map(subjectName)).toEqual(['Debian Secure Boot CA'])
    expect(grub?.signers.map(subjectName).join()).toContain('Debian Secure Boot Signer')
  })
})
