import type { Bootimage } from '../core/bootimage.ts'
import type { PendingChange } from '../core/bootimage-state.ts'
import { type ChangeClass, type ChangePolicies, hasPolicy } from '../core/change.ts'

/** A going-back is followed when this many refreshes in a row said the same. */
const confirmingRefreshes = 2

export interface PlanChangeInput {
  readonly change: ChangeClass
  readonly offered?: Pick<Bootimage, 'id' | 'release'>
  readonly policies: ChangePolicies
  /** What the refresh before this one left pending. */
  readonly pending?: PendingChange
  /**
   * Whether the canonical source offers the same bootimage; absent where the document came from it anyway. `false`
   * also when it could not be asked: a mirror alone never takes a stream back.
   */
  readonly canonicalAgrees?: boolean
  /** Ms since the epoch. */
  readonly now: number
}

/**
 * `follow`: what is offered becomes the target. `keep`: what was accepted stays, nothing waits.
 * `confirm`: stays until the next refresh says the same. `hold`: stays until an admin decides.
 */
export type ChangePlan =
  | { readonly action: 'follow' | 'keep' }
  | { readonly action: 'confirm' | 'hold'; readonly pending: PendingChange }

/**
 * What to do about a change, by policy (G8, G9). Whatever is not followed leaves what is served alone. `keep` and
 * `follow` clear what was pending: only refreshes in a row confirm each other.
 */
export function planChange(input: PlanChangeInput): ChangePlan {
  const { change, offered, policies, canonicalAgrees } = input
  if (offered === undefined) return { action: 'keep' }
  if (change === 'first' || change === 'corrected') return { action: 'follow' }
  if (!hasPolicy(change)) return { action: 'keep' }
  const policy = policies[change]
  if (policy === 'follow') return { action: 'follow' }
  const pending = nextPending(input, offered, policy)
  if (policy === 'hold') return { action: 'hold', pending }
  const isConfirmed = pending.seen >= confirmingRefreshes && canonicalAgrees !== false
  return isConfirmed ? { action: 'follow' } : { action: 'confirm', pending }
}

/** Counts on for the same change to the same bootimage; any other starts anew. */
function nextPending(
  { change, pending, now }: PlanChangeInput,
  offered: Pick<Bootimage, 'id' | 'release'>,
  policy: 'confirm' | 'hold',
): PendingChange {
  const isSame = pending?.change === change && pending.bootimage === offered.id && pending.policy === policy
  return {
    change,
    bootimage: offered.id,
    release: offered.release,
    seen: isSame ? pending.seen + 1 : 1,
    firstSeenAt: isSame ? pending.firstSeenAt : now,
    policy,
  }
}
