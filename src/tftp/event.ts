import type { FileUse, TftpPeer } from './files.ts'
import type { TftpErrorCode } from './packet.ts'
import type { TftpName } from './tftp-name.ts'
import type { TransferOutcome } from './transfer.ts'

interface EventBase {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly client: TftpPeer
}

/** Figures of a transfer that has ended. */
export interface TransferFigures {
  /** Of the file as it is sent. */
  readonly sizeBytes: number
  /** Acknowledged by the client. */
  readonly deliveredBytes: number
  readonly blockSize: number
  readonly windowSize: number
  readonly repeatedBlocks: number
  readonly durationMs: number
}

export type IgnoreReason =
  | 'malformed'
  | 'stray-packet'
  | 'limit-total'
  | 'limit-per-client'
  | 'no-free-port'
  | 'socket-failed'
  | 'stopping'

export type RefuseReason =
  | 'malformed'
  | 'write-request'
  | 'name-refused'
  | 'not-served'
  | 'file-empty'
  | 'file-unreadable'

/** What happens at the TFTP listener, as data; logs, metrics and the boot timeline are made from it. */
export type TftpEvent =
  /** A transfer has begun. One whose size was asked for may end at once (field case 60). */
  | (EventBase & { readonly type: 'requested'; readonly name: TftpName; readonly isSizeAsked: boolean })
  /** The client took the first answer: it wants the file. */
  | (EventBase & {
      readonly type: 'started'
      readonly name: TftpName
      readonly use?: FileUse
      readonly sizeBytes: number
    })
  /** At most once a second for each transfer. */
  | (EventBase & {
      readonly type: 'progressed'
      readonly name: TftpName
      readonly use?: FileUse
      readonly sizeBytes: number
      readonly deliveredBytes: number
    })
  | (EventBase & {
      readonly type: 'ended'
      readonly name: TftpName
      readonly use?: FileUse
      readonly isSizeAsked: boolean
      readonly outcome: TransferOutcome
      readonly figures: TransferFigures
      /** The client's own words, printable and bounded, where it sent an ERROR. */
      readonly clientError?: { readonly code: number; readonly message: string }
      /** Why a file could not be read. */
      readonly cause?: unknown
    })
  /** Answered with an ERROR. */
  | (EventBase & {
      readonly type: 'refused'
      readonly reason: RefuseReason
      readonly code: TftpErrorCode
      readonly message: string
      /** Printable and bounded. */
      readonly displayName: string
      readonly name?: TftpName
      readonly cause?: unknown
    })
  /** Left unanswered, so that the client asks again or a forger gets nothing. */
  | (EventBase & { readonly type: 'ignored'; readonly reason: IgnoreReason })
  /** Kernel segmentation failed for a transfer, which goes on with plain sends. */
  | (EventBase & { readonly type: 'segmentation-failed'; readonly cause: unknown })
