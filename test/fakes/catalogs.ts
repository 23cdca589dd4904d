import type { Arch } from '../../src/core/arch.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import { artifactsOf, type Bootimage } from '../../src/core/bootimage.ts'
import type { BootimageFailure, BootimageState, PendingChange } from '../../src/core/bootimage-state.ts'
import type {
  BootimageStatus,
  Catalog,
  CatalogArch,
  CatalogStream,
  ReadyBootimage,
  ServedFile,
  StreamHealth,
} from '../../src/core/catalog.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { someIdentity } from './bootimages.ts'

export const readOnce: StreamHealth = { lastSuccessAt: 1000, lastAttemptAt: 1000, problems: [] }

export interface CatalogSketch {
  readonly stream?: string
  readonly arch?: Arch
  readonly architectures?: readonly Arch[]
  readonly current?: Bootimage
  readonly damaged?: BootimageStatus
  /** One of `releases` that is ready. */
  readonly standIn?: Bootimage
  readonly target?: BootimageStatus
  readonly pending?: PendingChange
  /** What can be pinned beside `current`. */
  readonly releases?: readonly BootimageStatus[]
  readonly health?: StreamHealth
  /** Files beside those of ready bootimages. */
  readonly files?: readonly ServedFile[]
  /** Decompressed kernels by the digest of the compressed one. */
  readonly uncompressed?: ReadonlyMap<Sha256, ServedFile>
}

export function status(
  bootimage: Bootimage,
  state: BootimageState = 'ready',
  failure?: BootimageFailure,
): BootimageStatus {
  return { bootimage, state, failure }
}

export function servedFile(artifact: Pick<Artifact, 'sha256' | 'name' | 'role'>): ServedFile {
  const { sha256, name, role } = artifact
  return {
    sha256,
    name,
    role,
    sizeBytes: 100,
    path: `/blobs/${sha256}`,
    modifiedAt: 5000,
    identity: someIdentity,
  }
}

/** A snapshot of one stream and one architecture, as the publisher would make it. */
export function makeCatalog(sketch: CatalogSketch = {}): Catalog {
  const { stream = 'fcos-stable', arch = 'x86_64', current, releases = [], files = [] } = sketch
  const uncompressed = sketch.uncompressed ?? new Map<Sha256, ServedFile>()
  const statuses = [...(current === undefined ? [] : [status(current)]), ...releases]
  const ready = statuses
    .filter(({ state }) => state === 'ready')
    .map(({ bootimage }): ReadyBootimage => {
      const { kernel, initramfs, rootfs, disks } = bootimage
      return {
        bootimage,
        kernel: servedFile(kernel),
        kernelUncompressed: uncompressed.get(kernel.sha256),
        initramfs: servedFile(initramfs),
        rootfs: rootfs && servedFile(rootfs),
        disks: new Map(disks.map((disk) => [disk.variant ?? disk.name, servedFile(disk)])),
      }
    })
  const readyById = new Map(ready.map((image) => [image.bootimage.id, image]))
  const archEntry: CatalogArch = {
    arch,
    current: current && readyById.get(current.id),
    damaged: sketch.damaged,
    standIn: sketch.standIn && readyById.get(sketch.standIn.id),
    previous: [],
    target: sketch.target,
    pending: sketch.pending,
    releases: new Map(statuses.map((entry) => [entry.bootimage.release, entry])),
  }
  const entry: CatalogStream = {
    name: stream,
    architectures: sketch.architectures ?? [arch],
    byArch: new Map([[arch, archEntry]]),
    health: sketch.health ?? readOnce,
  }
  const served = [
    ...ready.flatMap((image) => artifactsOf(image.bootimage).map(servedFile)),
    ...uncompressed.values(),
  ]
  return {
    revision: 1,
    streams: new Map([[stream, entry]]),
    ready: readyById,
    files: new Map([...served, ...files].map((file) => [file.sha256, file])),
    awaited: new Set(),
  }
}
