import type { Ipv4 } from '../../core/ipv4.ts'
import type { ClientKey } from '../hardware-address.ts'

/**
 * What must survive a crash, once for each change. Times are whole seconds since the epoch.
 * `leased` holds until then; `released` was given back; `declined` answers to somebody else and rests until then.
 */
export type LeaseChange =
  | { readonly kind: 'leased'; readonly address: Ipv4; readonly key: ClientKey; readonly until: number }
  | { readonly kind: 'released'; readonly address: Ipv4; readonly key: ClientKey; readonly until: number }
  | { readonly kind: 'declined'; readonly address: Ipv4; readonly until: number }

/** The port behind which leases are durable. */
export interface LeaseStore {
  /** Every change that was acknowledged, oldest first, as far as it still matters. */
  load(): Promise<readonly LeaseChange[]>
  /**
   * Makes changes durable; they are when it resolves, all with one sync.
   * @throws ServiceError STORAGE_FAILED: none of them may be acted upon
   */
  append(changes: readonly LeaseChange[]): Promise<void>
  /** Whether so much of what is stored is outdated that `rewrite` is worth it. */
  readonly isRewriteDue: boolean
  /** Replaces all that is stored; a crash in between leaves the old state or the new. */
  rewrite(changes: readonly LeaseChange[]): Promise<void>
  close(): Promise<void>
}
