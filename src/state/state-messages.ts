import type { FleetChange } from '../core/fleet.ts'
import type { PlainError } from '../core/plain-error.ts'
import type { SqlStore } from './create-sql-store.ts'
import type { DatabaseUpdate } from './open-database.ts'
import type { UnreadableRows } from './readable-rows.ts'

export type SqlStoreMethod = Exclude<keyof SqlStore, 'close'>

/** What a thread is started for: to hold the store, or for one piece of work on files that may take long. */
export type StateTask =
  | { readonly task: 'store'; readonly file: string; readonly backups: string }
  | { readonly task: 'backup'; readonly source: string; readonly target: string }
  | { readonly task: 'prepare-restore'; readonly file: string; readonly copy: string }

/** From the service to the thread that holds the store. `id` names a call. */
export type StateRequest =
  | {
      readonly type: 'call'
      readonly id: number
      readonly method: SqlStoreMethod
      readonly args: readonly unknown[]
      /** By `monotonicMs`: from then on nobody waits for it, and what has not begun is not done. */
      readonly until: number
    }
  /** Changes that come before those of the call with this id, whose message would be too long. */
  | { readonly type: 'changes'; readonly id: number; readonly changes: readonly FleetChange[] }
  | { readonly type: 'close' }

/** From the thread to the service. */
export type StateReply =
  | { readonly type: 'opened'; readonly update?: DatabaseUpdate }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  /** Without an id: the task itself. */
  | { readonly type: 'failed'; readonly id?: number; readonly error: PlainError }
  | { readonly type: 'unreadable'; readonly rows: UnreadableRows }

/** The same in all threads of a process, and untouched by whoever sets the time. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}
