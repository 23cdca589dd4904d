import type { Artifact } from '../core/artifact.ts'
import { artifactsOf, type Bootimage } from '../core/bootimage.ts'
import type { BootimageState } from '../core/bootimage-state.ts'
import type { Sha256 } from '../core/digest.ts'

/**
 * Why a bootimage is wanted, most urgent first: a machine stands before a `wait` script; what is handed out has lost a
 * file; a pin asks for it; a stream is about to move to it; it is kept to go back to.
 */
export const urgencies = ['waiting-node', 'current', 'pinned', 'target', 'previous'] as const
export type Urgency = (typeof urgencies)[number]

export interface WantedSet {
  readonly bootimage: Bootimage
  readonly state: BootimageState
  readonly urgency: Urgency
}

export interface SyncStep {
  readonly bootimage: Bootimage
  readonly urgency: Urgency
  /** Kernel, initramfs, rootfs, disks: small ones first, so that a wrong release shows early. */
  readonly fetch: readonly Artifact[]
  /** Everything is there but a good signature. */
  readonly onlySignatures: boolean
}

export interface SyncPlan {
  readonly steps: readonly SyncStep[]
  readonly skipped: readonly { readonly bootimage: Bootimage; readonly why: 'held' | 'complete' }[]
}

/**
 * What to fetch next and in which order. Set after set rather than file after file, so that the first one is bootable
 * as soon as can be; a file that several sets share belongs to the first of them; sets of the same urgency stay in the
 * order given. A set that an admin has to judge first (`held`) is not touched.
 */
export function planSync({
  wanted,
  present,
}: {
  readonly wanted: readonly WantedSet[]
  readonly present: ReadonlySet<Sha256>
}): SyncPlan {
  const skipped: SyncPlan['skipped'][number][] = []
  const steps: SyncStep[] = []
  const taken = new Set<Sha256>(present)
  for (const { bootimage, state, urgency } of mostUrgentOnce(wanted)) {
    const missing = artifactsOf(bootimage).filter(({ sha256 }) => !present.has(sha256))
    if (state === 'held') skipped.push({ bootimage, why: 'held' })
    else if (state === 'ready' && missing.length === 0) skipped.push({ bootimage, why: 'complete' })
    else {
      const fetch = missing.filter(({ sha256 }) => !taken.has(sha256))
      for (const { sha256 } of fetch) taken.add(sha256)
      steps.push({ bootimage, urgency, fetch: withoutDoubles(fetch), onlySignatures: missing.length === 0 })
    }
  }
  return { steps, skipped }
}

function mostUrgentOnce(wanted: readonly WantedSet[]): readonly WantedSet[] {
  const sorted = wanted.toSorted(
    (left, right) => urgencies.indexOf(left.urgency) - urgencies.indexOf(right.urgency),
  )
  const byId = new Map(sorted.toReversed().map((set) => [set.bootimage.id, set]))
  return sorted.filter((set) => byId.get(set.bootimage.id) === set)
}

/** A set may name one file twice, as `metal` and `metal-bios` for instance. */
function withoutDoubles(artifacts: readonly Artifact[]): readonly Artifact[] {
  const seen = new Set<Sha256>()
  return artifacts.filter(({ sha256 }) => !seen.has(sha256) && seen.add(sha256))
}
