import { artifactsOf } from '../../core/bootimage.ts'
import type { BootimageStatus, Catalog, CatalogArch } from '../../core/catalog.ts'
import type { Sha256 } from '../../core/digest.ts'

/** One sentence for people about a file that is wanted but not there yet. */
export function describeAwaited(catalog: Catalog, sha256: Sha256): string {
  for (const stream of catalog.streams.values()) {
    for (const arch of stream.byArch.values()) {
      for (const status of statusesOf(arch)) {
        const artifact = artifactsOf(status.bootimage).find((candidate) => candidate.sha256 === sha256)
        if (artifact !== undefined) return `${describeStatus(status)} This is its ${artifact.role}.`
      }
    }
  }
  return 'This file is being fetched.'
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
