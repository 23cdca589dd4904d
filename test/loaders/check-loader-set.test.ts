import { describe, expect, it } from 'vitest'
import { checkLoaderSet } from '../../src/loaders/check-loader-set.ts'
import { inspectLoader } from '../../src/loaders/inspect-loader.ts'
import {
  makeGrub,
  makePe,
  makeShim,
  signedBy,
  testAuthority,
  testSigner,
  vendorSection,
} from '../fakes/loader-images.ts'

function check(files: Readonly<Record<string, Buffer>>) {
  return checkLoaderSet(new Map(Object.entries(files).map(([name, bytes]) => [name, inspectLoader(bytes)])))
}

const arm64 = { machine: 0xaa64 }

describe('a Secure Boot set', () => {
  it('with shim and a GRUB that it trusts is good for their architecture', () => {
    expect(check({ 'shimx64.efi': makeShim(), 'grubx64.efi': makeGrub() })).toEqual({
      architectures: ['x86_64'],
      problems: [],
    })
  })

  it('can be good for several architectures', () => {
    const { architectures, problems } = check({
      'shimx64.efi': makeShim(),
      'grubx64.efi': makeGrub(),
      'shimaa64.efi': makeShim(arm64),
      'grubaa64.efi': makeGrub(arm64),
    })
    expect([architectures, problems]).toEqual([['x86_64', 'aarch64'], []])
  })

  it('may have a GRUB whose very certificate shim holds', () => {
    const shim = makeShim({ sections: { '.vendor_cert': vendorSection(testSigner) } })
    expect(check({ 'shimx64.efi': shim, 'grubx64.efi': makeGrub() }).problems).toEqual([])
  })

  it.each([
    [
      'nothing in it',
      {},
      [
        'it holds no shim and no GRUB: put shimx64.efi and grubx64.efi, or shimaa64.efi and grubaa64.efi there',
      ],
    ],
    ['no GRUB', { 'shimx64.efi': makeShim() }, ['shimx64.efi has no grubx64.efi beside it, which it starts']],
    ['no shim', { 'grubx64.efi': makeGrub() }, ['grubx64.efi has no shimx64.efi beside it']],
    [
      'a GRUB in place of shim',
      { 'shimx64.efi': makeGrub(), 'grubx64.efi': makeGrub() },
      ['shimx64.efi is no shim'],
    ],
    [
      'an unsigned shim',
      { 'shimx64.efi': makeShim({ certificates: Buffer.alloc(0) }), 'grubx64.efi': makeGrub() },
      ['shimx64.efi is not signed, so firmware with Secure Boot refuses it'],
    ],
    [
      'an unsigned GRUB',
      { 'shimx64.efi': makeShim(), 'grubx64.efi': makeGrub({ certificates: Buffer.alloc(0) }) },
      ['grubx64.efi is not signed'],
    ],
    [
      'a GRUB of another signer',
      {
        'shimx64.efi': makeShim({ sections: { '.vendor_cert': vendorSection(testSigner) } }),
        'grubx64.efi': makePe({ certificates: signedBy(testAuthority) }),
      },
      [
        'grubx64.efi is signed by Pilotlight test authority (issued by Pilotlight test authority), and this shim trusts mirror.example',
      ],
    ],
  ])('with %s says why it is none', (_name, files, problems) => {
    expect(check(files)).toEqual({ architectures: [], problems })
  })

  it('keeps the good half when the other is not', () => {
    const files = { 'shimx64.efi': makeShim(), 'grubx64.efi': makeGrub(), 'shimaa64.efi': makeShim(arm64) }
    expect(check(files)).toEqual({
      architectures: ['x86_64'],
      problems: ['shimaa64.efi has no grubaa64.efi beside it, which it starts'],
    })
  })
})
