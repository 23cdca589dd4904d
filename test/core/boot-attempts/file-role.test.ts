import { expect, it } from 'vitest'
import { roleOfName } from '../../../src/core/boot-attempts/file-role.ts'

it.each([
  ['snponly.efi', 'loader'],
  ['undionly.kpxe', 'loader'],
  ['pxelinux.0', 'loader'],
  ['debian/shimx64.efi', 'loader'],
  ['grub/grub.cfg', 'script'],
  ['pxelinux.cfg/01-52-54-00-ab-cd-ef', 'script'],
  ['autoexec.ipxe', 'script'],
  ['artifacts/0a/fedora-coreos-44.20261129.3.0-live-kernel.x86_64', 'kernel'],
  ['artifacts/0a/rhcos-live-initramfs.x86_64.img', 'initramfs'],
  ['artifacts/0a/rhcos-live-rootfs.x86_64.img', 'rootfs'],
  ['grub/x86_64-efi/command.lst', 'other'],
  ['', 'other'],
])('%s is a %s', (name, role) => {
  expect(roleOfName(name)).toBe(role)
})
