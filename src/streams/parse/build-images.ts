import { type Arch, architectures } from '../../core/arch.ts'
import type { Artifact } from '../../core/artifact.ts'
import { parseRelease } from '../../core/release.ts'
import type { ArchMetadata, MetadataProblem } from '../metadata.ts'
import { readBuildImage } from './artifact.ts'
import { type Field, invalidField, isAbsent, isObject, member, object } from './field.ts'
import { readOrNote } from './problems.ts'

/** Install images by the names that documents use; 4.2 for s390x wrote `metal-dasd` what 4.3 calls `dasd`. */
const diskImages = [
  { image: 'metal', variant: 'metal' },
  { image: 'metal4k', variant: 'metal4k' },
  { image: 'metal-bios', variant: 'metal-bios' },
  { image: 'metal-uefi', variant: 'metal-uefi' },
  { image: 'dasd', variant: 'dasd' },
  { image: 'metal-dasd', variant: 'dasd' },
  { image: 'metal-zfcp', variant: 'zfcp' },
] as const

/** The `images` of a build document and where they lie. */
export interface BuildImages {
  readonly arch: Arch
  readonly release: string
  readonly images: Field
  /** URL of the directory that holds the build; ends in `/`. */
  readonly directory: string
}

/**
 * The one architecture of a build document (`rhcos.json`, `meta.json`): `live-*`, or the old `kernel` and
 * `initramfs`, or both (RHCOS 4.6 in development); each set for itself, never a file of one in the other.
 */
export function readBuildImages({ arch, release, images, directory }: BuildImages): {
  architectures: ReadonlyMap<Arch, ArchMetadata>
  problems: readonly MetadataProblem[]
} {
  const problems: MetadataProblem[] = []
  object(images)
  const metadata = readOrNote(arch, problems, (): ArchMetadata => {
    const live = readLive(images, directory)
    const installer = readInstaller(images, directory)
    if (live === undefined && installer === undefined)
      throw invalidField(images, 'live-kernel and live-initramfs, or kernel and initramfs', 'neither')
    return {
      arch,
      release,
      ...(live === undefined ? {} : { live }),
      ...(installer === undefined ? {} : { installer }),
      disks: readDisks(arch, images, directory, problems),
    }
  })
  return { architectures: new Map(metadata === undefined ? [] : [[arch, metadata]]), problems }
}

/** One member of the set makes the others due, so that a document that lost one is not taken for an older kind. */
function readLive(images: Field, directory: string): ArchMetadata['live'] {
  const kernel = member(images, 'live-kernel')
  const initramfs = member(images, 'live-initramfs')
  const rootfs = member(images, 'live-rootfs')
  if (isAbsent(kernel) && isAbsent(initramfs) && isAbsent(rootfs)) return undefined
  return {
    kernel: readBuildImage(kernel, { role: 'kernel' }, directory),
    initramfs: readBuildImage(initramfs, { role: 'initramfs' }, directory),
    ...(isAbsent(rootfs) ? {} : { rootfs: readBuildImage(rootfs, { role: 'rootfs' }, directory) }),
  }
}

function readInstaller(images: Field, directory: string): ArchMetadata['installer'] {
  const kernel = member(images, 'kernel')
  const initramfs = member(images, 'initramfs')
  if (isAbsent(kernel) && isAbsent(initramfs)) return undefined
  return {
    kernel: readBuildImage(kernel, { role: 'kernel' }, directory),
    initramfs: readBuildImage(initramfs, { role: 'initramfs' }, directory),
  }
}

function readDisks(
  arch: Arch,
  images: Field,
  directory: string,
  problems: MetadataProblem[],
): readonly Artifact[] {
  const disks = new Map<string, Artifact>()
  for (const { image, variant } of diskImages) {
    const field = member(images, image)
    if (isAbsent(field) || disks.has(variant)) continue
    const disk = readOrNote(arch, problems, () => readBuildImage(field, { role: 'disk', variant }, directory))
    if (disk !== undefined) disks.set(variant, disk)
  }
  return [...disks.values()]
}

/**
 * The architecture that the image names agree on (`rhcos-…-live-kernel-x86_64`), else what the release tells:
 * RHCOS 4.1 and 4.2 named none in their x86_64 documents, and spelt the others into the release (`42s390x.81.…`).
 */
export function archFromImages(images: Field, release: string): Arch | undefined {
  const named = new Set(Object.values(object(images)).flatMap(archsIn))
  if (named.size > 0) return named.size === 1 ? [...named][0] : undefined
  const parsed = parseRelease(release)
  if (parsed?.style !== 'ocp' || parsed.ocpMinor > 2) return undefined
  return parsed.branch === undefined ? 'x86_64' : architectures.find((arch) => arch === parsed.branch)
}

function archsIn(image: unknown): readonly Arch[] {
  const path = isObject(image) ? image.path : undefined
  if (typeof path !== 'string') return []
  const words = new Set(path.split(/[.-]/))
  return architectures.filter((arch) => words.has(arch))
}
