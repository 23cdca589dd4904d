import { artifactsOf, type Bootimage, type BootimageId } from '../core/bootimage.ts'
import type { BootimageState } from '../core/bootimage-state.ts'
import type { Sha256 } from '../core/digest.ts'
import type { DerivedRecord, PinResolution, StreamHead } from '../state/store.ts'
import type { BlobStat } from './blob-store.ts'

/** Why a blob stays. Where several hold, the first in this order is told. */
export const keepReasons = [
  'current',
  'previous',
  'target',
  'pinned',
  'leased',
  'being-fetched',
  'held',
  'young',
] as const
export type KeepReason = (typeof keepReasons)[number]

/** Why a blob may go: every bootimage that names it is out of use, or none names it at all. */
export type RemoveReason = 'unused' | 'unreferenced'

export interface GcInput {
  readonly blobs: readonly Pick<BlobStat, 'sha256' | 'sizeBytes' | 'modifiedAt'>[]
  readonly bootimages: readonly {
    readonly bootimage: Bootimage
    readonly state: BootimageState
    readonly kernelUncompressed?: Sha256
  }[]
  readonly heads: readonly StreamHead[]
  /** Those that some host or group still asks for. */
  readonly pins: readonly Pick<PinResolution, 'bootimage'>[]
  /** By boots in progress. */
  readonly leased: ReadonlySet<BootimageId>
  readonly derived: readonly DerivedRecord[]
  /** How many previous bootimages a stream keeps for each architecture. */
  readonly keep: (stream: string) => number
  readonly now: number
  /** When this process began to know of boots in progress. */
  readonly startedAt: number
  readonly longestAttemptMs: number
}

export interface GcPlan {
  /** Nothing may be removed before this time (ms since the epoch); `remove` is empty. */
  readonly postponedUntil?: number
  readonly remove: readonly {
    readonly sha256: Sha256
    readonly sizeBytes: number
    readonly why: RemoveReason
  }[]
  readonly keep: readonly {
    readonly sha256: Sha256
    readonly why: KeepReason
    /** The bootimage that keeps it, directly or through what it derives from. */
    readonly bootimage?: BootimageId
  }[]
  /**
   * Bootimages that lose a file. They must have left the catalog, durably, before the first file is removed, so that
   * nothing is offered that is no longer whole (G3).
   */
  readonly evicted: readonly BootimageId[]
}

/** A blob that nothing names may belong to a fetch whose record is not written yet. */
const youngMs = 60 * 60 * 1000

const fetchingStates: ReadonlySet<BootimageState> = new Set([
  'queued',
  'downloading',
  'verifying',
  'pending-signature',
])

/**
 * What garbage collection may remove (G6): never what is current, previous, pinned or leased by a boot in progress, nor
 * what is on its way to be; and for one longest boot attempt after a start nothing at all, because boots that began
 * before it are not known yet.
 */
export function planGc(input: GcInput): GcPlan {
  const kept = keptBootimages(input)
  const reasons = new Map<Sha256, { why: KeepReason; bootimage: BootimageId }>()
  const named = new Set<Sha256>()
  for (const record of input.bootimages) {
    const reason = kept.get(record.bootimage.id)
    for (const sha256 of filesOf(record)) {
      named.add(sha256)
      if (reason && isStronger(reason, reasons.get(sha256)?.why)) {
        reasons.set(sha256, { why: reason, bootimage: record.bootimage.id })
      }
    }
  }
  extendToDerived(input.derived, named, reasons)
  const remove: GcPlan['remove'][number][] = []
  const keep: GcPlan['keep'][number][] = []
  for (const { sha256, sizeBytes, modifiedAt } of input.blobs) {
    const reason = reasons.get(sha256)
    const isNamed = named.has(sha256)
    if (reason) keep.push({ sha256, ...reason })
    else if (!isNamed && input.now - modifiedAt < youngMs) keep.push({ sha256, why: 'young' })
    else remove.push({ sha256, sizeBytes, why: isNamed ? 'unused' : 'unreferenced' })
  }
  const postponedUntil = input.startedAt + input.longestAttemptMs
  if (input.now < postponedUntil) return { postponedUntil, remove: [], keep, evicted: [] }
  const removed = new Set(remove.map(({ sha256 }) => sha256))
  const evicted = input.bootimages
    .filter((record) => filesOf(record).some((sha256) => removed.has(sha256)))
    .map(({ bootimage }) => bootimage.id)
  return { remove, keep, evicted }
}

function keptBootimages(input: GcInput): ReadonlyMap<BootimageId, KeepReason> {
  const kept = new Map<BootimageId, KeepReason>()
  const hold = (id: BootimageId | undefined, why: KeepReason) => {
    if (id !== undefined && isStronger(why, kept.get(id))) kept.set(id, why)
  }
  for (const { stream, current, previous, target, pending } of input.heads) {
    hold(current, 'current')
    for (const id of previous.slice(0, Math.max(0, input.keep(stream)))) hold(id, 'previous')
    hold(target, 'target')
    hold(pending?.bootimage, 'held')
  }
  for (const { bootimage } of input.pins) hold(bootimage, 'pinned')
  for (const id of input.leased) hold(id, 'leased')
  for (const { bootimage, state } of input.bootimages) {
    if (fetchingStates.has(state)) hold(bootimage.id, 'being-fetched')
  }
  return kept
}

function filesOf({ bootimage, kernelUncompressed }: GcInput['bootimages'][number]): readonly Sha256[] {
  const files = artifactsOf(bootimage).map(({ sha256 }) => sha256)
  return kernelUncompressed === undefined ? files : [...files, kernelUncompressed]
}

/** What was made from a kept file is kept with it; chains are followed to their end. */
function extendToDerived(
  derived: readonly DerivedRecord[],
  named: Set<Sha256>,
  reasons: Map<Sha256, { why: KeepReason; bootimage: BootimageId }>,
): void {
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false
    for (const { sha256, from } of derived) {
      const reason = reasons.get(from)
      const inherits = reason !== undefined && isStronger(reason.why, reasons.get(sha256)?.why)
      if (named.has(from) && !named.has(sha256)) {
        named.add(sha256)
        hasGrown = true
      }
      if (!inherits) continue
      reasons.set(sha256, reason)
      hasGrown = true
    }
  }
}

function isStronger(candidate: KeepReason, than: KeepReason | undefined): boolean {
  return than === undefined || keepReasons.indexOf(candidate) < keepReasons.indexOf(than)
}
