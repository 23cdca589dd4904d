import type { AdminOperations } from '../http/admin/operations.ts'

/** A running service; `stop` may be called twice and leaves nothing behind. */
export interface Service {
  readonly bootUrl: string
  readonly adminUrl: string
  /** Where TFTP listens now; none when it is off. */
  readonly tftpAddresses: () => readonly { readonly address: string; readonly port: number }[]
  readonly operations: AdminOperations
  stop(): Promise<void>
}

/** The operations of a data directory that no service is using; holds its lock until closed. */
export interface OfflineOperations {
  readonly operations: AdminOperations
  close(): Promise<void>
}
