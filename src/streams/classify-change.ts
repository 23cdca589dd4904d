import type { Bootimage } from '../core/bootimage.ts'
import type { ChangeClass } from '../core/change.ts'
import { compareReleases } from '../core/release.ts'
import type { MetadataProblem } from './metadata.ts'

/** What one architecture of a stream was, and what a new document says of it. */
export interface ChangeInput {
  /** What policy accepted last (target, else current); absent before the first. */
  readonly accepted?: Bootimage
  /** Whether the document is, byte for byte, the one that `accepted` was last seen in. */
  readonly sameDocument: boolean
  /** What the document offers; absent when it has nothing usable for this architecture. */
  readonly offered?: Bootimage
  /** Why it offers nothing, where the architecture is named but unusable. */
  readonly problem?: MetadataProblem
  /** Every bootimage that this stream accepted for this architecture, ever; held and pinned ones are not among them. */
  readonly history: readonly Bootimage[]
  /** Whether a set was ever complete and verified here, so that a machine may have booted it. */
  readonly wasReady: (bootimage: Bootimage) => boolean
}

/**
 * How a document differs from what was followed, for one architecture (G9). Nothing here prefers a higher version:
 * the order of releases only tells going back from going on.
 *
 * - `withdrawn`: the architecture is gone from the document. `partial`: it is there, but its set is not whole.
 * - `republished`: the same release, now or earlier, with other digests (G8). Stands above `rolled-back`.
 * - `corrected`: the same, but nothing of that release was ever verified here: what was accepted could not be had, and
 *   no machine has booted anything that this one could differ from.
 * - `rolled-back`: a set that this stream had before, or a lower release. Incomparable ones count as `advanced`.
 * - `regenerated`: another document, the same bootimage.
 */
export function classifyChange({
  accepted,
  sameDocument,
  offered,
  problem,
  history,
  wasReady,
}: ChangeInput): ChangeClass {
  if (offered === undefined) return problem === undefined ? 'withdrawn' : 'partial'
  if (accepted === undefined) return 'first'
  if (isSameSet(accepted, offered)) return sameDocument ? 'unchanged' : 'regenerated'
  const hadThisSet = history.some((past) => isSameSet(past, offered))
  const others = [accepted, ...(hadThisSet ? [] : history)].filter((past) => isRepublication(past, offered))
  if (others.some(wasReady)) return 'republished'
  if (isRepublication(accepted, offered)) return 'corrected'
  if (hadThisSet || compareReleases(offered.release, accepted.release) === -1) return 'rolled-back'
  return lostPart(accepted, offered) ? 'partial' : 'advanced'
}

function isSameSet(a: Bootimage, b: Bootimage): boolean {
  return a.release === b.release && a.setDigest === b.setDigest
}

function isRepublication(past: Bootimage, offered: Bootimage): boolean {
  return past.release === offered.release && past.setDigest !== offered.setDigest
}

/**
 * Streams gained the live image and its rootfs file once and never gave them up: a newer release without is a
 * document caught in the middle of being written.
 */
function lostPart(accepted: Bootimage, offered: Bootimage): boolean {
  const lostLive = accepted.kind === 'live' && offered.kind !== 'live'
  return lostLive || (accepted.rootfs !== undefined && offered.rootfs === undefined)
}
