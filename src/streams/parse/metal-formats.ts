import type { Arch } from '../../core/arch.ts'
import type { Artifact } from '../../core/artifact.ts'
import type { ArchMetadata, MetadataProblem } from '../metadata.ts'
import { readArtifact } from './artifact.ts'
import { type Field, invalidField, isAbsent, listNames, member, memberNames } from './field.ts'
import { readOrNote } from './problems.ts'

/** Compressed raw disk images; `4k.` is for disks with 4096-byte sectors (facts §2). */
const diskFormats = [
  { format: 'raw.gz', variant: 'metal' },
  { format: 'raw.xz', variant: 'metal' },
  { format: '4k.raw.gz', variant: 'metal4k' },
  { format: '4k.raw.xz', variant: 'metal4k' },
] as const

export interface MetalFormats {
  readonly arch: Arch
  readonly release: string
  /** `formats` of a stream document, `artifacts` of a release.json: the same members below. */
  readonly formats: Field
  readonly base: string | undefined
  readonly problems: MetadataProblem[]
}

/**
 * Network-boot files and disk images of platform `metal`. A set that is there but incomplete is an error even when
 * the other set is whole: falling back from `pxe` to `installer-pxe` would turn a live boot into an installation.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function readMetalFormats({ arch, release, formats, base, problems }: MetalFormats): ArchMetadata {
  const pxe = member(formats, 'pxe')
  const installerPxe = member(formats, 'installer-pxe')
  if (isAbsent(pxe) && isAbsent(installerPxe))
    throw invalidField(formats, 'pxe or installer-pxe', listNames(memberNames(formats)))
  const live = isAbsent(pxe) ? undefined : { ...readPair(pxe, base), ...readRootfs(pxe, base) }
  const installer = isAbsent(installerPxe) ? undefined : readPair(installerPxe, base)
  return {
    arch,
    release,
    ...(live === undefined ? {} : { live }),
    ...(installer === undefined ? {} : { installer }),
    disks: readDisks(arch, formats, base, problems),
  }
}

function readPair(set: Field, base: string | undefined): { kernel: Artifact; initramfs: Artifact } {
  return {
    kernel: readArtifact(member(set, 'kernel'), { role: 'kernel' }, base),
    initramfs: readArtifact(member(set, 'initramfs'), { role: 'initramfs' }, base),
  }
}

function readRootfs(pxe: Field, base: string | undefined): { rootfs?: Artifact } {
  const rootfs = member(pxe, 'rootfs')
  return isAbsent(rootfs) ? {} : { rootfs: readArtifact(rootfs, { role: 'rootfs' }, base) }
}

/** A broken disk image costs only itself: a live boot does without. */
function readDisks(
  arch: Arch,
  formats: Field,
  base: string | undefined,
  problems: MetadataProblem[],
): readonly Artifact[] {
  const disks = new Map<string, Artifact>()
  for (const { format, variant } of diskFormats) {
    const field = member(formats, format)
    if (isAbsent(field) || disks.has(variant)) continue
    const disk = readOrNote(arch, problems, () =>
      readArtifact(member(field, 'disk'), { role: 'disk', variant }, base),
    )
    if (disk !== undefined) disks.set(variant, disk)
  }
  return [...disks.values()]
}
