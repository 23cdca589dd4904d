import { expect, test } from 'vitest'
import { contentTypeOf } from '../../../src/http/boot/content-type.ts'

test.each([
  ['fedora-coreos-live-kernel.x86_64', 'kernel', 'application/octet-stream'],
  ['fedora-coreos-live-initramfs.x86_64.img', 'initramfs', 'application/octet-stream'],
  ['fedora-coreos-live-rootfs.x86_64.img', 'rootfs', 'application/octet-stream'],
  ['fedora-coreos-live.x86_64.iso', 'disk', 'application/vnd.efi-iso'],
  ['disk.img', 'disk', 'application/vnd.efi-img'],
  ['rhcos-metal.raw.gz', 'disk', 'application/octet-stream'],
  ['ipxe.efi', 'disk', 'application/efi'],
  ['IPXE.EFI', 'kernel', 'application/efi'],
] as const)('%s as %s is %s (field case 91)', (name, role, type) => {
  expect(contentTypeOf({ name, role })).toBe(type)
})
