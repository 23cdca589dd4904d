import { describe, expect, it } from 'vitest'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { addressHexOf, classifyName } from '../../src/tftp/tftp-name.ts'

const uuid = '85cd0947-1d3e-4a4b-9b0d-52540077aa01'
const digest = 'ab'.repeat(32)

function classify(name: string) {
  const { path, ...rest } = classifyName(name as TftpPath)
  expect(path).toBe(name)
  return rest
}

describe('PXELINUX names (case 80)', () => {
  it.each([
    ['pxelinux.cfg/01-52-54-00-ab-cd-ef', { by: 'mac', mac: '52:54:00:ab:cd:ef' }],
    ['pxelinux.cfg/01-52-54-00-AB-CD-EF', { by: 'mac', mac: '52:54:00:ab:cd:ef' }],
    [`pxelinux.cfg/${uuid}`, { by: 'uuid', uuid }],
    [`pxelinux.cfg/${uuid.toUpperCase()}`, { by: 'uuid', uuid }],
    ['pxelinux.cfg/C0000237', { by: 'address', hexPrefix: 'C0000237', address: '192.0.2.55' }],
    ['pxelinux.cfg/c0000237', { by: 'address', hexPrefix: 'C0000237', address: '192.0.2.55' }],
    ['pxelinux.cfg/C000023', { by: 'address', hexPrefix: 'C000023' }],
    ['pxelinux.cfg/C', { by: 'address', hexPrefix: 'C' }],
    ['pxelinux.cfg/default', { by: 'default' }],
    ['pxelinux.cfg/default-arm-bcm283x-rpi', { by: 'default', variant: 'arm-bcm283x-rpi' }],
    ['pxelinux.cfg/default-arm', { by: 'default', variant: 'arm' }],
    ['pxelinux.cfg/00000000-0000-0000-0000-000000000000', { by: 'other' }],
    ['pxelinux.cfg/01-01-00-5e-00-00-01', { by: 'other' }],
    ['pxelinux.cfg/20-00-11-22-33-44-55-66-77', { by: 'other' }],
    ['pxelinux.cfg/C00002371', { by: 'other' }],
    ['pxelinux.cfg/graphics.conf', { by: 'other' }],
  ])('%s', (name, key) => {
    expect(classify(name)).toEqual({ kind: 'pxelinux-config', key })
  })

  it('under the directory that the loader came from', () => {
    expect(classify('bios/syslinux/pxelinux.cfg/default')).toEqual({
      kind: 'pxelinux-config',
      key: { by: 'default' },
    })
  })

  it('the whole walk of a PXELINUX ends in its default', () => {
    const walk = ['C0000237', 'C000023', 'C00002', 'C0000', 'C000', 'C00', 'C0', 'C', 'default']
    const keys = walk.map((last) => classifyName(`pxelinux.cfg/${last}` as TftpPath))
    expect(keys.map((name) => name.kind === 'pxelinux-config' && name.key.by)).toEqual([
      ...Array(8).fill('address'),
      'default',
    ])
  })

  it('an address as loaders spell it', () => {
    expect(addressHexOf('192.0.2.55')).toBe('C0000237')
    expect(addressHexOf('10.0.0.1')).toBe('0A000001')
  })
})

describe('GRUB names', () => {
  it.each([
    ['grub/grub.cfg', { by: 'default' }],
    ['grub.cfg', { by: 'default' }],
    ['EFI/debian/grub.cfg', { by: 'default' }],
    ['grub/grub.cfg-01-52-54-00-ab-cd-ef', { by: 'mac', mac: '52:54:00:ab:cd:ef' }],
    [`grub/grub.cfg-${uuid}`, { by: 'uuid', uuid }],
    ['grub/grub.cfg-C0000237', { by: 'address', hexPrefix: 'C0000237', address: '192.0.2.55' }],
    ['grub/grub.cfg-C00', { by: 'address', hexPrefix: 'C00' }],
    ['grub/grub.cfg-2001:db8::37', { by: 'other' }],
  ])('%s', (name, key) => {
    expect(classify(name)).toEqual({ kind: 'grub-config', key })
  })

  it.each(['x86_64-efi/command.lst', 'x86_64-efi/fs.lst', 'grubenv', 'fonts/unicode.pf2'])(
    'grub/%s is a file of its own',
    (file) => {
      expect(classify(`grub/${file}`)).toEqual({ kind: 'grub-file', file })
    },
  )
})

describe('scripts, loaders and artifacts', () => {
  it.each(['autoexec.ipxe', 'boot.ipxe'])('%s, beside the loader or at the root (case 84)', (file) => {
    expect(classify(file)).toEqual({ kind: 'ipxe-script', file })
    expect(classify(`loaders/${file}`)).toEqual({ kind: 'ipxe-script', file })
  })

  it.each(['ipxe.efi', 'shim/shimx64.efi', 'revocations_sbat.efi', 'pxelinux.cfg', 'autoexec.ipxe.sig'])(
    '%s is a file',
    (name) => {
      expect(classify(name)).toEqual({ kind: 'file' })
    },
  )

  it('artifacts by digest, in either case', () => {
    expect(classify(`artifacts/${digest}/vmlinuz`)).toEqual({
      kind: 'artifact',
      sha256: digest,
      name: 'vmlinuz',
    })
    expect(classify(`artifacts/${digest.toUpperCase()}/vmlinuz`)).toMatchObject({ sha256: digest })
  })

  it.each([`artifacts/${digest}`, `artifacts/${digest}/a/b`, 'artifacts/1234/vmlinuz'])(
    '%s is no artifact',
    (name) => {
      expect(classify(name)).toEqual({ kind: 'file' })
    },
  )
})

describe('Raspberry Pi directories (case 81)', () => {
  it.each([
    ['9ffefdef/start4.elf', '9ffefdef', 'start4.elf'],
    ['9FFEFDEF/overlays/overlay_map.dtb', '9ffefdef', 'overlays/overlay_map.dtb'],
  ])('%s', (name, serial, file) => {
    expect(classify(name)).toEqual({ kind: 'serial-file', serial, file })
  })

  it('a directory that is a MAC', () => {
    expect(classify('dc-a6-32-01-02-03/start4.elf')).toEqual({
      kind: 'mac-file',
      mac: 'dc:a6:32:01:02:03',
      file: 'start4.elf',
    })
  })

  it.each(['9ffefdef', '9ffefde/start4.elf', 'start4.elf', 'zzzzzzzz/start4.elf'])('%s is a file', (name) => {
    expect(classify(name)).toEqual({ kind: 'file' })
  })
})
