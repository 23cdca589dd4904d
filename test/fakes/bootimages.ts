import { createHash } from 'node:crypto'
import type { BlobFacts } from '../../src/catalog/build-catalog.ts'
import type { Arch } from '../../src/core/arch.ts'
import type { Artifact, ArtifactRole } from '../../src/core/artifact.ts'
import { artifactsOf, type Bootimage, bootimageId, setDigestText } from '../../src/core/bootimage.ts'
import type { BootimageState } from '../../src/core/bootimage-state.ts'
import { parseSha256, type Sha256 } from '../../src/core/digest.ts'
import type { FileIdentity } from '../../src/core/file-identity.ts'
import type { BootimageRecord } from '../../src/state/store.ts'

/** The digest of a text, for artifacts whose bytes nobody reads. */
export function sha256Of(text: string): Sha256 {
  const digest = parseSha256(createHash('sha256').update(text).digest('hex'))
  if (digest === undefined) throw new Error('unreachable: a SHA-256 is a SHA-256')
  return digest
}

export interface BootimageSketch {
  readonly stream?: string
  readonly arch?: Arch
  readonly release?: string
  /** Publications of one release differ by this. */
  readonly edition?: string
  readonly kind?: Bootimage['kind']
}

/** Of a file that nobody reads. */
export const someIdentity = '1:100:5000:5000' as FileIdentity

/** A plausible bootimage; equal sketches give equal bootimages. */
export function makeBootimage(sketch: BootimageSketch = {}): Bootimage {
  const {
    stream = 'fcos-stable',
    arch = 'x86_64',
    release = '44.20260707.3.1',
    edition = '',
    kind = 'live',
  } = sketch
  const file = (role: ArtifactRole, variant?: string): Artifact => {
    const name = `${release}-${variant ?? role}.${arch}`
    const location = `https://builds.example/${stream}/${release}/${arch}/${name}`
    return { role, name, variant, sha256: sha256Of(`${name}${edition}`), location }
  }
  const isLive = kind === 'live'
  const parts = {
    kernel: file('kernel'),
    initramfs: file('initramfs'),
    rootfs: isLive ? file('rootfs') : undefined,
    disks: isLive ? [] : [file('disk', 'metal')],
  }
  const all = [parts.kernel, parts.initramfs, ...(parts.rootfs ? [parts.rootfs] : []), ...parts.disks]
  const setDigest = sha256Of(setDigestText(all))
  return {
    id: bootimageId(stream, arch, release, setDigest),
    stream,
    arch,
    release,
    kind,
    setDigest,
    ...parts,
  }
}

export function makeRecord(
  bootimage: Bootimage,
  state: BootimageState,
  extra: Partial<BootimageRecord> = {},
): BootimageRecord {
  return { bootimage, state, document: sha256Of('document'), firstSeenAt: 1000, ...extra }
}

/** Blob facts for every file of the bootimages, as if all were on disk. */
export function blobsOf(...bootimages: readonly Bootimage[]): Map<Sha256, BlobFacts> {
  return new Map(
    bootimages
      .flatMap(artifactsOf)
      .map(({ sha256 }) => [
        sha256,
        { sizeBytes: 100, modifiedAt: 5000, path: `/blobs/${sha256}`, identity: someIdentity },
      ]),
  )
}
