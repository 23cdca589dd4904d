import type { BootimageId } from './bootimage.ts'
import type { ChangeClass } from './change.ts'

export const bootimageStates = [
  'known', // a document names it, nobody wants it yet
  'queued',
  'downloading',
  'verifying',
  'pending-signature',
  'ready',
  'failed',
  'held',
] as const
export type BootimageState = (typeof bootimageStates)[number]

export interface BootimageFailure {
  readonly code: string
  readonly message: string
  readonly at: number
}

/** A change that is not followed (yet), as the last refresh found it. */
export interface PendingChange {
  readonly change: ChangeClass
  readonly bootimage?: BootimageId
  readonly release?: string
  /** Refreshes in a row that said the same. */
  readonly seen: number
  readonly firstSeenAt: number
  /** `confirm`: waiting for the second refresh; `hold`: waiting for an admin. */
  readonly policy: 'confirm' | 'hold'
}
