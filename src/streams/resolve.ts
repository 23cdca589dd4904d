import { createHash } from 'node:crypto'
import type { Arch } from '../core/arch.ts'
import type { Artifact } from '../core/artifact.ts'
import { artifactsOf, type Bootimage, bootimageId, setDigestText } from '../core/bootimage.ts'
import type { Sha256 } from '../core/digest.ts'
import { parseRelease } from '../core/release.ts'
import type { ArchMetadata, Metadata, MetadataProblem, Resolution } from './metadata.ts'

/** From this day on every live set has a rootfs file; older initramfs files hold the whole system (facts §8). */
const rootfsMandatorySince = '20201007'

/** What the old installer can write: the image for the firmware, or one for both, or the mainframe's own. */
const installerDisks: ReadonlySet<string> = new Set(['metal', 'metal-bios', 'metal-uefi', 'dasd', 'zfcp'])

type BootSet = Pick<Bootimage, 'kind' | 'kernel' | 'initramfs' | 'rootfs' | 'disks'>

/**
 * The bootimages a document offers, one per architecture: `live` where there is a live set, else
 * `legacy-installer`. A file of one set never completes the other. Signatures stay as the document has them: whether
 * one is dead shows when it is fetched (RHCOS 4.8 and 4.9 name some that are).
 */
export function resolveBootimages(metadata: Metadata, stream: string): Resolution {
  const bootimages: Bootimage[] = []
  const problems = metadata.problems.filter(({ arch }) => !metadata.architectures.has(arch))
  for (const entry of metadata.architectures.values()) {
    const set = entry.live === undefined ? installerSet(entry) : liveSet(entry, entry.live)
    if (typeof set === 'object') bootimages.push(assemble(stream, entry, set))
    else problems.push(problem(metadata, entry, set))
  }
  return { bootimages, problems }
}

type Missing = 'rootfs' | 'disk'

function liveSet({ release }: ArchMetadata, live: NonNullable<ArchMetadata['live']>): BootSet | Missing {
  const day = parseRelease(release)?.day
  const needsRootfs = day !== undefined && day >= rootfsMandatorySince
  return needsRootfs && live.rootfs === undefined ? 'rootfs' : { kind: 'live', ...live, disks: [] }
}

function installerSet({ installer, disks }: ArchMetadata): BootSet | Missing {
  const images = disks.filter(({ variant }) => variant !== undefined && installerDisks.has(variant))
  if (installer === undefined || !isInstallable(images)) return 'disk'
  return { kind: 'legacy-installer', ...installer, disks: images }
}

function isInstallable(images: readonly Artifact[]): boolean {
  const has = (variant: string) => images.some((image) => image.variant === variant)
  return has('metal') || has('dasd') || has('zfcp') || (has('metal-bios') && has('metal-uefi'))
}

function problem(metadata: Metadata, { arch, release }: ArchMetadata, missing: Missing): MetadataProblem {
  // A disk image that is there but broken says more than one that is missing.
  const known = metadata.problems.find((entry) => entry.arch === arch)
  if (missing === 'disk' && known !== undefined) return known
  const field = fieldOf(metadata.format, arch, missing)
  const expected =
    missing === 'rootfs'
      ? `the rootfs of ${release} (no live image since 2020-10 boots without)`
      : `the disk image that the installer of ${release} writes (metal, or metal-bios and metal-uefi)`
  return { arch, field, message: `${field}: found nothing, expected ${expected}` }
}

function fieldOf(format: Metadata['format'], arch: Arch, missing: Missing): string {
  if (format === 'rhcos' || format === 'cosa-meta')
    return missing === 'rootfs' ? 'images.live-rootfs' : 'images'
  const formats = format === 'release' ? 'media.metal.artifacts' : 'artifacts.metal.formats'
  return `architectures.${arch}.${formats}${missing === 'rootfs' ? '.pxe.rootfs' : ''}`
}

function assemble(stream: string, { arch, release }: ArchMetadata, set: BootSet): Bootimage {
  const setDigest = createHash('sha256')
    .update(setDigestText(artifactsOf(set)))
    .digest('hex') as Sha256
  return { id: bootimageId(stream, arch, release, setDigest), stream, arch, release, setDigest, ...set }
}
