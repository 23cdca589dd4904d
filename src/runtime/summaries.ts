import { filesOf } from '../catalog/build-catalog.ts'
import type { Arch } from '../core/arch.ts'
import { artifactsOf, type BootimageId } from '../core/bootimage.ts'
import { type CatalogArch, type CatalogStream, handedOut } from '../core/catalog.ts'
import { damageReason } from '../core/damage-reason.ts'
import { pendingChangeText } from '../core/pending-change-text.ts'
import { reasonText } from '../core/reason.ts'
import type {
  BootimageSummary,
  PartReadiness,
  StreamArchSummary,
  StreamSummary,
  SyncReport,
} from '../http/admin/operations.ts'
import type { BootimageRecord } from '../state/store.ts'
import type { Engine } from './engine.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** Every stream that the configuration has, in its order. */
export function streamSummaries(engine: Engine): readonly StreamSummary[] {
  return [...engine.publisher.current().streams.values()].map((stream) => streamSummary(engine, stream))
}

/** What the API and the command line say of a stream. */
export function streamSummary(engine: Engine, stream: CatalogStream): StreamSummary {
  const { health } = stream
  return {
    name: stream.name,
    source: engine.streams.describe(stream.name),
    ...(stream.label === undefined ? {} : { label: stream.label }),
    ...(stream.lastModified === undefined ? {} : { lastModified: iso(stream.lastModified) }),
    ...(health.lastSuccessAt === undefined ? {} : { lastSuccessAt: iso(health.lastSuccessAt) }),
    ...(health.lastAttemptAt === undefined ? {} : { lastAttemptAt: iso(health.lastAttemptAt) }),
    ...(health.failingSince === undefined ? {} : { failingSince: iso(health.failingSince) }),
    ...(health.error === undefined ? {} : { error: health.error }),
    architectures: stream.architectures.map((arch) => archSummary(engine, stream, arch)),
  }
}

function archSummary(engine: Engine, stream: CatalogStream, arch: Arch): StreamArchSummary {
  const entry = stream.byArch.get(arch)
  const problem = stream.health.problems.find((candidate) => candidate.arch === arch)?.message
  const lastChange = engine.storage.ledger.headOf(stream.name, arch).lastChange
  return {
    arch,
    ...(entry?.current === undefined ? {} : { current: entry.current.bootimage.release }),
    previous: entry?.previous.map(({ bootimage }) => bootimage.release) ?? [],
    ...targetOf(engine, entry),
    ...(entry?.pending === undefined
      ? {}
      : {
          pending: {
            change: entry.pending.change,
            ...(entry.pending.release === undefined ? {} : { release: entry.pending.release }),
            policy: entry.pending.policy,
            seen: entry.pending.seen,
            decides: pendingChangeText(stream.name, entry.pending),
          },
        }),
    ...damagedOf(entry),
    ...(lastChange === undefined ? {} : { lastChange }),
    ...(problem === undefined ? {} : { problem }),
  }
}

function targetOf(engine: Engine, entry: CatalogArch | undefined): Pick<StreamArchSummary, 'target'> {
  if (entry?.target === undefined) return {}
  const { bootimage, state, failure } = entry.target
  const why = failure === undefined ? {} : { failure: failure.message }
  return { target: { release: bootimage.release, state, ...why, ...fetched(engine, entry.target) } }
}

/** How far a set is that is being fetched. */
function fetched(
  engine: Engine,
  { bootimage, state }: Pick<BootimageRecord, 'bootimage' | 'state'>,
): Pick<BootimageSummary, 'doneBytes' | 'totalBytes' | 'bytesPerSecond'> {
  if (!isFetched(state)) return {}
  const { blobIndex } = engine.storage
  const { doneBytes, totalBytes, bytesPerSecond } = engine.progress.of(
    bootimage,
    (sha256) => blobIndex.facts.get(sha256)?.sizeBytes,
  )
  return { doneBytes, ...(totalBytes !== undefined && { totalBytes }), bytesPerSecond }
}

function isFetched(state: BootimageRecord['state']): boolean {
  return state === 'queued' || state === 'downloading' || state === 'verifying'
}

function damagedOf(entry: CatalogArch | undefined): Pick<StreamArchSummary, 'damaged'> {
  if (entry?.damaged === undefined) return {}
  const { release } = entry.damaged.bootimage
  const standIn = entry.standIn?.bootimage.release
  return {
    damaged: {
      release,
      text: reasonText(damageReason(entry.damaged)),
      ...(standIn === undefined ? {} : { standIn }),
    },
  }
}

/** What a stream's last document brought and is not followed, for the architectures that are followed. */
export function streamNotes(stream: CatalogStream): SyncReport['streams'][number]['notes'] {
  return stream.architectures.flatMap((arch): SyncReport['streams'][number]['notes'] => {
    const problem = stream.health.problems.find((candidate) => candidate.arch === arch)
    if (problem !== undefined) return [{ arch, kind: 'refused', text: problem.message }]
    const pending = stream.byArch.get(arch)?.pending
    if (pending === undefined) return []
    const { change, release = '' } = pending
    const text = `${change} ${release}: ${pendingChangeText(stream.name, pending)}`
    return [{ arch, kind: 'not-followed', text }]
  })
}

/** What the API and the command line say of a bootimage. */
export function bootimageSummary(engine: Engine, record: BootimageRecord): BootimageSummary {
  const { bootimage, state, failure } = record
  const { ledger } = engine.storage
  const ready = engine.publisher.current().ready.get(bootimage.id)
  return {
    id: bootimage.id,
    stream: bootimage.stream,
    arch: bootimage.arch,
    release: bootimage.release,
    kind: bootimage.kind,
    // A ready set that lost a file is not ready, whatever its record says.
    state: state === 'ready' && ready === undefined ? 'queued' : state,
    roles: rolesOf(engine, record),
    setDigest: bootimage.setDigest,
    ...(ready === undefined
      ? {}
      : { sizeBytes: filesOf(ready).reduce((sum, file) => sum + file.sizeBytes, 0) }),
    ...fetched(engine, record),
    ...(failure === undefined ? {} : { failure: { ...failure, at: iso(failure.at) } }),
    artifacts: artifactsOf(ledger.bootimages.get(bootimage.id)?.bootimage ?? bootimage).map(
      ({ role, name, sha256 }) => ({ role, name, sha256 }),
    ),
  }
}

function rolesOf(engine: Engine, { bootimage, state }: BootimageRecord): BootimageSummary['roles'] {
  const head = engine.storage.ledger.headOf(bootimage.stream, bootimage.arch)
  const { id } = bootimage
  const roles: BootimageSummary['roles'][number][] = []
  if (head.current === id) roles.push('current')
  if (head.previous.includes(id)) roles.push('previous')
  if (head.target === id && head.current !== id) roles.push('target')
  if (engine.pins.pinned().has(id)) roles.push('pinned')
  if (engine.leases.leasedBootimages(Date.now()).has(id)) roles.push('leased')
  if (state === 'held' || head.pending?.bootimage === id) roles.push('held')
  return roles
}

/** Whether a stream can give its machines something, and what is wrong even if it can (G4). */
export function streamReadiness(stream: CatalogStream): PartReadiness {
  const part = `stream:${stream.name}`
  const missing = stream.architectures.filter((arch) => {
    const entry = stream.byArch.get(arch)
    return entry === undefined || handedOut(entry) === undefined
  })
  if (missing.length > 0) {
    const why = missing.map((arch) => `${arch}: ${whyMissing(stream, arch)}`).join('; ')
    return { part, ready: false, reason: why }
  }
  const limps = [...notRefreshed(stream), ...damages(stream), ...notFollowed(stream)]
  return limps.length === 0 ? { part, ready: true } : { part, ready: true, reason: limps.join('; ') }
}

function notRefreshed({ health }: CatalogStream): readonly string[] {
  if (health.failingSince === undefined) return []
  const since = iso(health.failingSince)
  return [
    `the last good state is served; not refreshed since ${since}: ${health.error?.message ?? 'unknown'}`,
  ]
}

function damages({ byArch }: CatalogStream): readonly string[] {
  return [...byArch.values()].flatMap(({ damaged }) =>
    damaged === undefined ? [] : [reasonText(damageReason(damaged))],
  )
}

function notFollowed(stream: CatalogStream): readonly string[] {
  return streamNotes(stream).map(({ arch, text }) => `${arch} stays as it is: ${text}`)
}

function whyMissing(stream: CatalogStream, arch: Arch): string {
  const { health } = stream
  const entry = stream.byArch.get(arch)
  const target = entry?.target
  const problem = health.problems.find((candidate) => candidate.arch === arch)
  // What the newest document says comes first; an older target goes on being tried beside it.
  const why = problem === undefined ? [] : [problem.message]
  if (entry?.damaged !== undefined) why.push(reasonText(damageReason(entry.damaged)))
  if (target?.failure !== undefined) {
    why.push(`${target.bootimage.release} could not be fetched: ${target.failure.message}`)
  } else if (target !== undefined) why.push(`${target.bootimage.release} is being fetched`)
  if (why.length > 0) return why.join(', and ')
  if (health.error !== undefined) return health.error.message
  return health.lastSuccessAt === undefined
    ? 'the metadata was not read yet'
    : 'the document has nothing for it'
}

/** Bootimages in the order in which people look for them: stream, architecture, newest first. */
export function inReadingOrder(records: Iterable<BootimageRecord>): readonly BootimageRecord[] {
  const key = ({ bootimage }: BootimageRecord): BootimageId => bootimage.id
  return [...records].sort((a, b) => {
    const left = a.bootimage
    const right = b.bootimage
    return (
      left.stream.localeCompare(right.stream) ||
      left.arch.localeCompare(right.arch) ||
      b.firstSeenAt - a.firstSeenAt ||
      key(a).localeCompare(key(b))
    )
  })
}
