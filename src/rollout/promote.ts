import type { BootimageId } from '../core/bootimage.ts'
import type { StreamHead } from '../state/store.ts'

export interface Promotion {
  /** The bootimage that is complete and verified now. */
  readonly ready: BootimageId
  /** How many previous bootimages stay for a rollback. */
  readonly keep: number
  readonly now: number
}

/**
 * The head after its target became ready; the same head when that bootimage is not what the stream waits for.
 * Pure: the one place where a bootimage becomes current (G3).
 */
export function promote(head: StreamHead, { ready, keep, now }: Promotion): StreamHead {
  if (head.target !== ready || head.current === ready) return head
  const older = [head.current, ...head.previous].filter((id) => id !== undefined && id !== ready)
  return {
    ...head,
    current: ready,
    previous: [...new Set(older as BootimageId[])].slice(0, keep),
    changedAt: now,
  }
}
