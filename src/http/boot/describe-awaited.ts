import type { Artifact } from '../../core/artifact.ts'
import { artifactsOf } from '../../core/bootimage.ts'
import type { BootimageStatus, Catalog, CatalogArch } from '../../core/catalog.ts'
import type { Sha256 } from '../../core/digest.ts'

/** A file that is wanted but not there yet, with the set that wants it. */
export interface AwaitedArtifact {
  readonly artifact: Artifact
  readonly status: BootimageStatus
}

/** `undefined` for a file that belongs to no bootimage: an admin's own initrd. */
export function findAwaited(catalog: Catalog, sha256: Sha256): AwaitedArtifact | undefined {
  for (const stream of catalog.streams.values()) {
    for (const arch of stream.byArch.values()) {
      for (const status of statusesOf(arch)) {
        const artifact = artifactsOf(status.bootimage).find((candidate) => candidate.sha256 === sha256)
        if (artifact !== undefined) return { artifact, status }
      }
    }
  }
  return undefined
}

/** One sentence for people about a file that is wanted but not there yet. */
export function describeAwaited(awaited: AwaitedArtifact | undefined): string {
  if (awaited === undefined) return 'This file is being fetched.'
  return `${describeStatus(awaited.status)} This is its ${awaited.artifact.role}.`
}

/** `44.20260707.3.1 of fcos-stable for x86_64 is downloading.`, with the last failure where there is one. */
export function describeStatus({ bootimage, state, failure }: BootimageStatus): string {
  const { release, stream, arch } = bootimage
  const last = failure === undefined ? '' : ` Last failure: ${failure.code}, ${failure.message}.`
  return `${release} of ${stream} for ${arch} is ${state}.${last}`
}

function statusesOf({ target, releases }: CatalogArch): readonly BootimageStatus[] {
  return target === undefined ? [...releases.values()] : [target, ...releases.values()]
}
