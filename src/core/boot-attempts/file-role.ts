import type { BootEvent } from '../boot-event.ts'

/** What a file is to a boot, whoever served it. */
export type FileRole = 'loader' | 'script' | 'kernel' | 'initramfs' | 'rootfs' | 'disk' | 'other'

export type FileEvent = Extract<
  BootEvent,
  { type: 'artifact-sent' | 'artifact-progress' | 'tftp-started' | 'tftp-ended' | 'tftp-refused' }
>

const ofArtifacts: ReadonlySet<string> = new Set<FileRole>([
  'loader',
  'script',
  'kernel',
  'initramfs',
  'rootfs',
  'disk',
])

/** HTTP knows the role; of what went by TFTP the name tells it, which is ours or the metadata's. */
export function fileRoleOf(event: FileEvent): FileRole {
  if (event.type === 'artifact-sent' || event.type === 'artifact-progress') {
    return ofArtifacts.has(event.role) ? (event.role as FileRole) : 'other'
  }
  const said = event.type === 'tftp-ended' ? event.role : undefined
  return said === 'loader' || said === 'script' ? said : roleOfName(event.file)
}

const loaderName = /\.(?:efi|k?pxe|kkpxe|0)$/i
const scriptName = /\.(?:cfg|ipxe)$|pxelinux\.cfg\/|grub\.cfg/i

export function roleOfName(file: string): FileRole {
  if (/rootfs/.test(file)) return 'rootfs'
  if (/initramfs|initrd/.test(file)) return 'initramfs'
  if (/kernel|vmlinuz/.test(file)) return 'kernel'
  if (loaderName.test(file)) return 'loader'
  return scriptName.test(file) ? 'script' : 'other'
}
