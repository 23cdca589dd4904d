import type { SentFile } from './reply.ts'

export const octetStream = 'application/octet-stream'
export const plainText = 'text/plain; charset=utf-8'

/**
 * UEFI HTTP Boot tells a program from a disk image by the media type, else by the suffix (field case 91). Kernels,
 * initramfs and rootfs stay octet streams whatever their suffix: a `rootfs.img` is no RAM disk to boot from.
 */
export function contentTypeOf({ name, role }: Pick<SentFile, 'name' | 'role'>): string {
  const lower = name.toLowerCase()
  if (lower.endsWith('.efi')) return 'application/efi'
  if (role !== 'disk') return octetStream
  if (lower.endsWith('.iso')) return 'application/vnd.efi-iso'
  return lower.endsWith('.img') ? 'application/vnd.efi-img' : octetStream
}
