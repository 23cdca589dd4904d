import type { Arch } from './arch.ts'
import type { Effective, WantedBootimage } from './boot-decision.ts'
import type { Bootimage } from './bootimage.ts'
import {
  type BootimageStatus,
  type Catalog,
  type CatalogArch,
  type CatalogStream,
  handedOut,
} from './catalog.ts'
import { bounded, damageReason, failureText } from './damage-reason.ts'
import type { Pin } from './host.ts'
import { originText } from './origin-text.ts'
import { pendingChangeText } from './pending-change-text.ts'
import { type Reason, reason } from './reason.ts'

/** `reasons[0]` decided; the others tell more. */
export type BootimageChoice =
  | {
      readonly kind: 'ready'
      readonly bootimage: Bootimage
      readonly reasons: readonly [Reason, ...Reason[]]
    }
  | {
      readonly kind: 'wait'
      readonly wanted: WantedBootimage
      readonly reasons: readonly [Reason, ...Reason[]]
    }
  | { readonly kind: 'hold'; readonly reasons: readonly [Reason, ...Reason[]] }

export interface BootimageQuery {
  readonly stream: string
  readonly arch: Arch
  readonly pin?: Effective<Pin>
}

/**
 * Which bootimage a machine gets: the pinned release or nothing (G5), else what the stream hands out now (G9).
 * Whatever the snapshot says, the answer is of exactly that stream, architecture and release (G2).
 */
export function chooseBootimage(query: BootimageQuery, catalog: Catalog): BootimageChoice {
  const { stream, arch, pin } = query
  const entry = catalog.streams.get(stream)
  if (entry === undefined) return refused(reason('stream-not-configured', { stream }))
  const isFollowed = entry.architectures.includes(arch)
  const archEntry = entry.byArch.get(arch)
  // A host may be pinned to an architecture that was followed once: its bootimages are still here.
  if (!isFollowed && (pin === undefined || archEntry === undefined)) {
    return refused(reason('arch-not-followed', { stream, arch }))
  }
  return pin === undefined
    ? chooseCurrent(query, entry, archEntry, catalog)
    : choosePinned(query, pin, entry, archEntry, catalog)
}

function refused(first: Reason, ...others: readonly Reason[]): BootimageChoice {
  return { kind: 'hold', reasons: [first, ...others] }
}

function choosePinned(
  { stream, arch }: BootimageQuery,
  pin: Effective<Pin>,
  entry: CatalogStream,
  archEntry: CatalogArch | undefined,
  catalog: Catalog,
): BootimageChoice {
  const { release } = pin.value
  const wanted = { stream, arch, release }
  const pinned = reason('pinned', { release, origin: pinOriginText(pin) })
  const status = archEntry?.releases.get(release)
  if (status === undefined || !isOf(status.bootimage, stream, arch) || status.bootimage.release !== release) {
    const unresolvable = reason('pin-unresolvable', { release, stream })
    return { kind: 'wait', wanted, reasons: [unresolvable, pinned, ...neverRead(stream, entry)] }
  }
  const isReady = status.state === 'ready' && catalog.ready.has(status.bootimage.id)
  if (isReady) return { kind: 'ready', bootimage: status.bootimage, reasons: [pinned] }
  return { kind: 'wait', wanted, reasons: [pinProgress(status, archEntry), pinned] }
}

/** What admins set at run time tells why by its origin already. */
function pinOriginText({ value, origin }: Effective<Pin>): string {
  const why = value.reason === undefined || origin.why !== undefined ? '' : `: ${value.reason}`
  return `${originText(origin)}${why}`
}

function pinProgress(status: BootimageStatus, archEntry: CatalogArch | undefined): Reason {
  const { bootimage, state, failure } = status
  const { release } = bootimage
  if (state === 'failed') return reason('pin-fetch-failed', { release, error: failureText(failure) })
  if (state === 'pending-signature') return reason('pin-unsigned', { release, error: failureText(failure) })
  if (state === 'held') return reason('pin-held', { release, decides: whatHolds(status, archEntry) })
  return reason('pin-being-fetched', { release })
}

function chooseCurrent(
  { stream, arch }: BootimageQuery,
  entry: CatalogStream,
  archEntry: CatalogArch | undefined,
  catalog: Catalog,
): BootimageChoice {
  const wantsAny = { stream, arch }
  const unusable = unusablePart(arch, entry)
  const others = [...pendingChange(stream, archEntry), ...unusable]
  const damage = archEntry?.damaged === undefined ? [] : [damageReason(archEntry.damaged)]
  const bootimage = archEntry && handedOut(archEntry)?.bootimage
  if (bootimage !== undefined && isOf(bootimage, stream, arch) && catalog.ready.has(bootimage.id)) {
    const { release } = bootimage
    const code = damage.length === 0 ? 'follows-current' : 'follows-previous'
    return { kind: 'ready', bootimage, reasons: [reason(code, { stream, release }), ...damage, ...others] }
  }

  const awaited = archEntry?.target ?? archEntry?.damaged ?? awaitedIn(archEntry)
  if (awaited !== undefined && isOf(awaited.bootimage, stream, arch)) {
    const { release } = awaited.bootimage
    const isOfDamaged = awaited.bootimage.id === archEntry?.damaged?.bootimage.id
    const [first, ...more] = isOfDamaged ? damage : [currentProgress(awaited, archEntry), ...damage]
    if (first !== undefined) {
      return { kind: 'wait', wanted: { stream, arch, release }, reasons: [first, ...more, ...others] }
    }
  }
  const [change] = pendingChange(stream, archEntry)
  if (change !== undefined) return { kind: 'wait', wanted: wantsAny, reasons: [change, ...unusable] }
  const [unread] = neverRead(stream, entry)
  if (unread !== undefined) return { kind: 'wait', wanted: wantsAny, reasons: [unread] }
  // A part that cannot be read is an accident that the next document mends; one that is not there is what upstream
  // says (G11).
  const [broken] = unusable
  if (broken !== undefined) return { kind: 'wait', wanted: wantsAny, reasons: [broken] }
  return refused(reason('arch-not-in-stream', { stream, arch }))
}

/** Why the newest document was not followed for this architecture, whatever is handed out meanwhile. */
function unusablePart(arch: Arch, { name, health }: CatalogStream): readonly Reason[] {
  const problem = health.problems.find((candidate) => candidate.arch === arch)
  if (problem === undefined) return []
  return [reason('arch-unusable', { stream: name, arch, error: bounded(problem.message) })]
}

/** Only bootimages that a snapshot filed under the right stream and architecture are ever handed out (G2). */
function isOf(bootimage: Bootimage, stream: string, arch: Arch): boolean {
  return bootimage.stream === stream && bootimage.arch === arch
}

/**
 * What a stream without a current bootimage and without a target is waiting for: a document was read a moment ago. The
 * furthest one tells the most.
 */
function awaitedIn(archEntry: CatalogArch | undefined): BootimageStatus | undefined {
  let best: BootimageStatus | undefined
  for (const status of archEntry?.releases.values() ?? []) {
    if (best === undefined || progressRank(status) > progressRank(best)) best = status
  }
  return best
}

function progressRank({ state }: BootimageStatus): number {
  if (state === 'held') return 0
  if (state === 'known') return 1
  return state === 'failed' ? 2 : 3
}

function currentProgress(status: BootimageStatus, archEntry: CatalogArch | undefined): Reason {
  const { bootimage, state, failure } = status
  const { release, stream } = bootimage
  if (state === 'failed') {
    return reason('current-fetch-failed', { stream, release, error: failureText(failure) })
  }
  if (state === 'pending-signature')
    return reason('current-unsigned', { stream, release, error: failureText(failure) })
  if (state === 'held') {
    return reason('current-held', { stream, release, decides: whatHolds(status, archEntry) })
  }
  return reason('current-being-fetched', { stream, release })
}

function pendingChange(stream: string, archEntry: CatalogArch | undefined): readonly Reason[] {
  const pending = archEntry?.pending
  if (pending === undefined) return []
  const { change, release = 'another bootimage' } = pending
  return [reason('change-pending', { stream, release, change, decides: pendingChangeText(stream, pending) })]
}

/** A held set is one that a change offered; when that change is past, the policies decide again when it comes back. */
function whatHolds({ bootimage }: BootimageStatus, archEntry: CatalogArch | undefined): string {
  const { stream, id } = bootimage
  const pending = archEntry?.pending
  if (pending?.bootimage === id) return pendingChangeText(stream, pending)
  return `held when its document was read, by streams.${stream}.changes`
}

function neverRead(stream: string, { health }: CatalogStream): readonly Reason[] {
  if (health.lastSuccessAt !== undefined) return []
  return [reason('stream-never-read', { stream, error: failureText(health.error, 'not tried yet') })]
}
