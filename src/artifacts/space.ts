import type { Artifact } from '../core/artifact.ts'
import { ServiceError } from '../core/errors.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { BlobStore } from './blob-store.ts'
import type { FileSystem } from './file-system.ts'
import { resumableBytes } from './incoming-directory.ts'
import type { Layout } from './layout.ts'
import { locationsOf } from './locations.ts'
import { storing } from './storage-error.ts'

/** Left free for the state database, the archive of documents and whoever else shares the disk. */
export const defaultReserveBytes = 256 * 2 ** 20

/** How many locations of one artifact are asked for its size before it counts as unknown. */
const mostSizeQuestions = 6

export interface SpaceVerdict {
  readonly isEnough: boolean
  /** What is still to be written, as far as sizes are known. */
  readonly neededBytes: number
  readonly freeBytes: number
  /** Names of artifacts whose size nobody told. */
  readonly unknown: readonly string[]
}

interface Place {
  readonly fs: FileSystem
  readonly layout: Layout
  /** Free bytes that are left alone. */
  readonly reserveBytes: number
}

/** @throws ServiceError SPACE_INSUFFICIENT when `neededBytes` more would eat into the reserve */
export async function checkFreeSpace(place: Place, neededBytes: number, what: string): Promise<void> {
  const freeBytes = await freeBytesAt(place)
  if (neededBytes + place.reserveBytes <= freeBytes) return
  throw insufficient({ isEnough: false, neededBytes, freeBytes, unknown: [] }, what, place)
}

export interface SpaceCheck {
  /** Whether a set fits, after what is there already is taken off. */
  measure(request: SpaceRequest, signal?: AbortSignal): Promise<SpaceVerdict>
  /** The same, as an error. @throws ServiceError SPACE_INSUFFICIENT, telling bytes needed and free */
  ensure(request: SpaceRequest, signal?: AbortSignal): Promise<void>
}

export interface SpaceRequest {
  /** For the message: the set that is about to be fetched. */
  readonly what: string
  readonly artifacts: readonly Artifact[]
  readonly mirrors: readonly string[]
}

/**
 * The one check before a set is fetched. Sizes come from the document, else from a HEAD request, since most documents
 * do not say them. A size that nobody tells counts as nothing: the transfer checks again when it learns it.
 */
export function createSpaceCheck(
  options: Place & { readonly store: Pick<BlobStore, 'stat'>; readonly upstream: UpstreamClient },
): SpaceCheck {
  async function measure({ artifacts, mirrors }: SpaceRequest, signal?: AbortSignal): Promise<SpaceVerdict> {
    const unknown: string[] = []
    let neededBytes = 0
    for (const artifact of artifacts) {
      if ((await options.store.stat(artifact.sha256)) !== undefined) continue
      const sizeBytes = artifact.sizeBytes ?? (await askSize(options.upstream, artifact, mirrors, signal))
      if (sizeBytes === undefined) unknown.push(artifact.name)
      else neededBytes += Math.max(0, sizeBytes - (await resumableBytes(options, artifact.sha256)))
    }
    const freeBytes = await freeBytesAt(options)
    const isEnough = neededBytes === 0 || neededBytes + options.reserveBytes <= freeBytes
    return { isEnough, neededBytes, freeBytes, unknown }
  }
  return {
    measure,
    async ensure(request, signal) {
      const verdict = await measure(request, signal)
      if (!verdict.isEnough) throw insufficient(verdict, request.what, options)
    },
  }
}

async function askSize(
  upstream: UpstreamClient,
  artifact: Artifact,
  mirrors: readonly string[],
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const locations = locationsOf(artifact, mirrors).filter(({ url }) => !url.startsWith('file:'))
  const upstreamLocation = locations.at(-1)
  const asked = new Set([
    ...locations.slice(0, mostSizeQuestions - 1),
    ...(upstreamLocation ? [upstreamLocation] : []),
  ])
  for (const { url } of asked) {
    try {
      const response = await upstream.request({ url, method: 'HEAD', ...(signal ? { signal } : {}) })
      await response.discard()
      const length = Number(response.headers['content-length'])
      if (response.status === 200 && Number.isSafeInteger(length) && length > 0) return length
    } catch {
      // The transfer itself will tell what is wrong there.
      signal?.throwIfAborted()
    }
  }
  return undefined
}

function freeBytesAt({ fs, layout }: Place): Promise<number> {
  return storing('measuring', layout.dataDirectory, () => fs.freeBytes(layout.dataDirectory))
}

function insufficient({ neededBytes, freeBytes }: SpaceVerdict, what: string, place: Place): ServiceError {
  const { reserveBytes, layout } = place
  return new ServiceError(
    'SPACE_INSUFFICIENT',
    `making room for ${what} in ${layout.dataDirectory}: ${neededBytes} bytes needed, ${freeBytes} free, of which ${reserveBytes} are kept in reserve`,
    { step: 'making room', what, neededBytes, freeBytes, reserveBytes },
  )
}
