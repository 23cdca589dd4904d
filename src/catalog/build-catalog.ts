import type { Arch } from '../core/arch.ts'
import type { Artifact, ArtifactRole } from '../core/artifact.ts'
import { artifactsOf, type BootimageId } from '../core/bootimage.ts'
import type { BootimageState } from '../core/bootimage-state.ts'
import type {
  BootimageStatus,
  Catalog,
  CatalogArch,
  CatalogStream,
  ReadyBootimage,
  ServedFile,
  StreamHealth,
} from '../core/catalog.ts'
import type { Sha256 } from '../core/digest.ts'
import type { FileIdentity } from '../core/file-identity.ts'
import { compareReleases } from '../core/release.ts'
import type { BootimageRecord, PinResolution, StreamHead } from '../state/store.ts'

/** What the blob store says of one file. */
export interface BlobFacts {
  readonly sizeBytes: number
  readonly modifiedAt: number
  readonly path: string
  readonly identity: FileIdentity
  readonly signaturePath?: string
  readonly signatureIdentity?: FileIdentity
}

/** A followed stream as configuration and its last document describe it. */
export interface CatalogStreamInput {
  readonly name: string
  readonly architectures: readonly Arch[]
  readonly label?: string
  readonly lastModified?: number
  readonly health: StreamHealth
  /** Its policy asks for a good signature of every file; what was fetched under another policy may have none (G1). */
  readonly requiresSignatures?: boolean
}

export interface CatalogInput {
  readonly revision: number
  readonly streams: readonly CatalogStreamInput[]
  readonly bootimages: Iterable<BootimageRecord>
  readonly heads: Iterable<StreamHead>
  readonly pins: Iterable<PinResolution>
  /** Complete, verified files; a file that is not in here is not there. */
  readonly blobs: ReadonlyMap<Sha256, BlobFacts>
  /** Admins' own initrds, served beside the bootimages once they are in the blob store. */
  readonly extraInitrds?: Iterable<{ readonly sha256: Sha256; readonly name: string }>
}

const wantedStates: ReadonlySet<BootimageState> = new Set([
  'queued',
  'downloading',
  'verifying',
  'pending-signature',
  'failed',
])

/**
 * Builds a snapshot. Pure. A bootimage is ready only when its record says so and every file of it is there (G3),
 * whatever its stream: a running boot keeps its files although its stream left the configuration (G2).
 */
export function buildCatalog(input: CatalogInput): Catalog {
  const ready = new Map<BootimageId, ReadyBootimage>()
  const statuses = new Map<BootimageId, BootimageStatus>()
  const byStreamArch = new Map<string, BootimageRecord[]>()
  const awaited = new Set<Sha256>()
  const incomplete: Artifact[] = []
  const strict = new Set(input.streams.filter((it) => it.requiresSignatures === true).map(({ name }) => name))

  for (const record of input.bootimages) {
    const { bootimage } = record
    const isSigned = ({ sha256 }: Artifact) =>
      !strict.has(bootimage.stream) || input.blobs.get(sha256)?.signaturePath !== undefined
    const isChecked = record.state === 'ready' && artifactsOf(bootimage).every(isSigned)
    const files = isChecked ? readyBootimage(record, input.blobs) : undefined
    if (files !== undefined) ready.set(bootimage.id, files)
    // A ready set whose file vanished (a failed scrub), or that lacks a signature, is on its way again.
    const state = record.state === 'ready' && files === undefined ? 'queued' : record.state
    statuses.set(bootimage.id, { bootimage, state, failure: record.failure })
    if (wantedStates.has(state)) {
      for (const { sha256 } of artifactsOf(bootimage)) awaited.add(sha256)
      const isRefused = record.failure?.code.startsWith('SIGNATURE_') === true
      if (record.readyAt !== undefined && !isRefused)
        incomplete.push(...artifactsOf(bootimage).filter(isSigned))
    }
    const key = streamArchKey(bootimage.stream, bootimage.arch)
    const siblings = byStreamArch.get(key)
    if (siblings === undefined) byStreamArch.set(key, [record])
    else siblings.push(record)
  }

  const files = new Map<Sha256, ServedFile>()
  for (const image of ready.values()) for (const file of filesOf(image)) files.set(file.sha256, file)
  // A set that was ready lost a file: no boot begins with it, but those in progress keep what is whole (G1, G2).
  for (const artifact of incomplete) {
    const file = servedFile(artifact, input.blobs)
    if (file !== undefined && !files.has(file.sha256)) files.set(file.sha256, file)
  }
  for (const { sha256, name } of input.extraInitrds ?? []) {
    const file = servedFile({ role: 'initramfs', sha256, name }, input.blobs)
    if (file === undefined) awaited.add(sha256)
    else if (!files.has(sha256)) files.set(sha256, file)
  }
  for (const sha256 of files.keys()) awaited.delete(sha256)

  const heads = new Map<string, StreamHead>()
  for (const head of input.heads) heads.set(streamArchKey(head.stream, head.arch), head)
  const pinned = new Map<string, BootimageId>()
  for (const pin of input.pins)
    pinned.set(`${streamArchKey(pin.stream, pin.arch)}/${pin.release}`, pin.bootimage)

  const streams = new Map<string, CatalogStream>()
  for (const stream of input.streams) {
    const byArch = new Map<Arch, CatalogArch>()
    for (const arch of archesOf(stream, byStreamArch)) {
      const key = streamArchKey(stream.name, arch)
      byArch.set(
        arch,
        catalogArch(arch, heads.get(key), byStreamArch.get(key) ?? [], { ready, statuses, pinned }),
      )
    }
    streams.set(stream.name, { ...stream, byArch })
  }
  return { revision: input.revision, streams, ready, files, awaited }
}

export function streamArchKey(stream: string, arch: Arch): string {
  return `${stream}/${arch}`
}

/** Every file of a ready bootimage, derived ones too. */
export function filesOf(image: ReadyBootimage): readonly ServedFile[] {
  const { kernel, kernelUncompressed, initramfs, rootfs, disks } = image
  return [kernel, kernelUncompressed, initramfs, rootfs, ...disks.values()].filter(
    (file) => file !== undefined,
  )
}

/** Followed architectures, and those that a document once named: a host may be pinned to one of theirs. */
function archesOf(stream: CatalogStreamInput, byStreamArch: ReadonlyMap<string, unknown>): ReadonlySet<Arch> {
  const arches = new Set(stream.architectures)
  for (const arch of ['x86_64', 'aarch64', 'ppc64le', 's390x'] as const) {
    if (byStreamArch.has(streamArchKey(stream.name, arch))) arches.add(arch)
  }
  return arches
}

interface Lookup {
  readonly ready: ReadonlyMap<BootimageId, ReadyBootimage>
  readonly statuses: ReadonlyMap<BootimageId, BootimageStatus>
  readonly pinned: ReadonlyMap<string, BootimageId>
}

function catalogArch(
  arch: Arch,
  head: StreamHead | undefined,
  records: readonly BootimageRecord[],
  { ready, statuses, pinned }: Lookup,
): CatalogArch {
  const releases = new Map<string, BootimageStatus>()
  for (const record of records) {
    const { release, id, stream } = record.bootimage
    const status = statuses.get(id)
    if (status === undefined) continue
    const pin = pinned.get(`${streamArchKey(stream, arch)}/${release}`)
    const best = releases.get(release)
    if (pin === undefined ? best === undefined || isBetterForPin(status, best) : pin === id)
      releases.set(release, status)
  }
  const target = head?.target === undefined ? undefined : statuses.get(head.target)
  const current = head?.current === undefined ? undefined : ready.get(head.current)
  const previous = (head?.previous ?? []).map((id) => ready.get(id)).filter((image) => image !== undefined)
  const damaged =
    head?.current === undefined || current !== undefined ? undefined : statuses.get(head.current)
  return {
    arch,
    current,
    ...(damaged !== undefined && { damaged, standIn: standInFor(damaged, previous) }),
    previous,
    target: target?.state === 'ready' ? undefined : target,
    pending: head?.pending,
    releases,
  }
}

/**
 * The latest verified bootimage while the current one is not whole: the newest one before it. Waiting instead would let
 * an upstream that is gone stop boots although a good set is here (G4). What stands before it by order alone: a
 * previous one with a higher release is one that the stream went back from, and its document says not to boot it (G9).
 */
function standInFor(
  { bootimage }: BootimageStatus,
  previous: readonly ReadyBootimage[],
): ReadyBootimage | undefined {
  return previous.find((image) => compareReleases(image.bootimage.release, bootimage.release) === -1)
}

/** The same release published twice: what is verified here stands above what only a document names; held is last. */
function isBetterForPin(candidate: BootimageStatus, best: BootimageStatus): boolean {
  const rank = (state: BootimageState) => (state === 'ready' ? 2 : state === 'held' ? 0 : 1)
  return rank(candidate.state) > rank(best.state)
}

function readyBootimage(
  record: BootimageRecord,
  blobs: ReadonlyMap<Sha256, BlobFacts>,
): ReadyBootimage | undefined {
  const { bootimage } = record
  const kernel = servedFile(bootimage.kernel, blobs)
  const initramfs = servedFile(bootimage.initramfs, blobs)
  const rootfs = bootimage.rootfs && servedFile(bootimage.rootfs, blobs)
  if (kernel === undefined || initramfs === undefined) return undefined
  if (bootimage.rootfs !== undefined && rootfs === undefined) return undefined
  const disks = new Map<string, ServedFile>()
  for (const disk of bootimage.disks) {
    const file = servedFile(disk, blobs)
    if (file === undefined) return undefined
    disks.set(disk.variant ?? disk.name, file)
  }
  const derived = record.kernelUncompressed
  const kernelUncompressed =
    derived === undefined ? undefined : servedFile({ ...bootimage.kernel, sha256: derived }, blobs)
  if (derived !== undefined && kernelUncompressed === undefined) return undefined
  return { bootimage, kernel, kernelUncompressed, initramfs, rootfs, disks }
}

function servedFile(
  artifact: Pick<Artifact, 'sha256' | 'name'> & { role: ArtifactRole },
  blobs: ReadonlyMap<Sha256, BlobFacts>,
): ServedFile | undefined {
  const blob = blobs.get(artifact.sha256)
  // Zero bytes are never an artifact (field case 83), whatever the record says.
  if (blob === undefined || blob.sizeBytes === 0) return undefined
  return { sha256: artifact.sha256, name: artifact.name, role: artifact.role, ...blob }
}
