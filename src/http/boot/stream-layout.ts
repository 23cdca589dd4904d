import type { ReadyBootimage, ServedFile } from '../../core/catalog.ts'

/** Where one file of a bootimage stands in stream metadata: `<platform>/<format>/<artifact>`. */
export interface StreamPlace {
  readonly platform: string
  readonly format: string
  readonly artifact: string
  readonly file: ServedFile
}

const imageSuffix = /\.((?:raw|qcow2|vmdk|vhd|iso|img|tar)(?:\.(?:gz|xz|zst))?)$/

/**
 * The files of a bootimage under the names that stream metadata has for them. `live` sets are `metal/pxe`, legacy
 * installers `metal/installer-pxe`; disk images are named by their suffix, those for 4096-byte sectors with `4k.`
 * before it. Variants that stream metadata never had (`metal-bios`, `dasd`, …) are platforms of their own.
 */
export function streamPlacesOf(image: ReadyBootimage): readonly StreamPlace[] {
  const { bootimage, kernel, initramfs, rootfs, disks } = image
  const format = bootimage.kind === 'live' ? 'pxe' : 'installer-pxe'
  const places: StreamPlace[] = [
    { platform: 'metal', format, artifact: 'kernel', file: kernel },
    { platform: 'metal', format, artifact: 'initramfs', file: initramfs },
  ]
  if (rootfs !== undefined) places.push({ platform: 'metal', format, artifact: 'rootfs', file: rootfs })
  for (const [variant, file] of disks) places.push(diskPlace(variant, file))
  return places
}

function diskPlace(variant: string, file: ServedFile): StreamPlace {
  const suffix = imageSuffix.exec(file.name)?.[1] ?? 'raw'
  return variant === 'metal4k'
    ? { platform: 'metal', format: `4k.${suffix}`, artifact: 'disk', file }
    : { platform: variant, format: suffix, artifact: 'disk', file }
}
