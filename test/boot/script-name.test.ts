import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { archOfVariant, parseScriptName } from '../../src/boot/script-name.ts'
import { parseFileName } from '../../src/tftp/file-name.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'

const mac = '52:54:00:ab:cd:ef'
const uuid = '00112233-4455-6677-8899-aabbccddeeff'

/** Names that PXELINUX, petitboot and U-Boot walk through, and GRUB behind `grub.cfg-` (field case 80). */
const keys: readonly (readonly [string, object])[] = [
  ['01-52-54-00-ab-cd-ef', { by: 'mac', mac }],
  ['01-52-54-00-AB-CD-EF', { by: 'mac', mac }],
  [uuid, { by: 'uuid', uuid }],
  [uuid.toUpperCase(), { by: 'uuid', uuid }],
  ['C0000237', { by: 'address', hexPrefix: 'C0000237', address: '192.0.2.55' }],
  ['c0000237', { by: 'address', hexPrefix: 'C0000237', address: '192.0.2.55' }],
  ['C000023', { by: 'address', hexPrefix: 'C000023' }],
  ['C', { by: 'address', hexPrefix: 'C' }],
  ['default', { by: 'default' }],
  ['default-arm-bcm2711', { by: 'default', variant: 'arm-bcm2711' }],
  // A vendor's placeholder names thousands of machines.
  ['03000200-0400-0500-0006-000700080009', { by: 'other' }],
  ['01-ff-ff-ff-ff-ff-ff', { by: 'other' }],
  ['01-', { by: 'other' }],
  ['C00002370', { by: 'other' }],
  ['linux.cfg', { by: 'other' }],
]

describe('names of configurations', () => {
  it.each(keys)('%s', (key, name) => {
    expect(parseScriptName('pxelinux', key)).toEqual(name)
    expect(parseScriptName('grub', `grub.cfg-${key}`)).toEqual(name)
  })

  it('GRUB begins and ends with grub.cfg, and takes a MAC as it spells it itself', () => {
    expect(parseScriptName('grub', 'grub.cfg')).toEqual({ by: 'default' })
    expect(parseScriptName('grub', `grub.cfg-01-${mac}`)).toEqual({ by: 'mac', mac })
  })

  it.each(['grub.cf', 'grub.cfgx', 'grubenv', 'unicode.pf2', ''])(
    '%j is no configuration of GRUB',
    (name) => {
      expect(parseScriptName('grub', name)).toBeUndefined()
    },
  )

  it('are read by TFTP as by HTTP', () => {
    const read = (name: string) => {
      const parsed = parseFileName(Buffer.from(name))
      return parsed.kind === 'path' ? classifyName(parsed.path) : undefined
    }
    for (const [key, name] of keys) {
      expect(read(`pxelinux.cfg/${key}`)).toMatchObject({ kind: 'pxelinux-config', key: name })
      expect(read(`/grub/grub.cfg-${key}`)).toMatchObject({ kind: 'grub-config', key: name })
    }
  })

  it('never make it throw', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(parseScriptName('pxelinux', name)?.by).toBeTypeOf('string')
        parseScriptName('grub', name)
      }),
    )
  })
})

it.each([
  ['arm-bcm283x-rpi', 'aarch64'],
  ['arm', 'aarch64'],
  ['arm64-x', 'aarch64'],
  ['armory', undefined],
  ['riscv-x', undefined],
  [undefined, undefined],
])('U-Boot of %s is for %s', (variant, arch) => {
  expect(archOfVariant(variant)).toBe(arch)
})
