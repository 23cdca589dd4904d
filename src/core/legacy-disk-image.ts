import type { Artifact } from './artifact.ts'
import type { Bootimage } from './bootimage.ts'
import type { Firmware } from './client.ts'

/**
 * The disk image that the legacy installer writes: 4.1 and 4.2 have one for each firmware, later ones a single
 * `metal` (facts/stream-metadata §12.7). `undefined` when there is none for this firmware.
 */
export function legacyDiskImage(bootimage: Bootimage, firmware: Firmware): Artifact | undefined {
  const byVariant = (variant: string) => bootimage.disks.find((disk) => disk.variant === variant)
  if (firmware === 'bios') return byVariant('metal-bios') ?? byVariant('metal')
  if (firmware === 'uefi') return byVariant('metal-uefi') ?? byVariant('metal')
  return byVariant('metal')
}
