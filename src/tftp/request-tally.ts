import type { IgnoreReason, RefuseReason, TftpEvent } from './event.ts'
import type { TransferOutcome } from './transfer.ts'

/** How a request can end: its transfer, a refusal, or silence. */
export type RequestOutcome = TransferOutcome | RefuseReason | Exclude<IgnoreReason, 'stray-packet'>

export interface TftpCounts {
  readonly requests: Readonly<Record<RequestOutcome, number>>
  /** Acknowledged by clients, of transfers that have ended. */
  readonly sentBytes: number
  /** Blocks that were sent again. */
  readonly retransmits: number
  /** Packets of no transfer that is under way. */
  readonly strayPackets: number
}

export interface RequestTally {
  note(event: TftpEvent): void
  counts(): TftpCounts
}

const noRequests: Readonly<Record<RequestOutcome, number>> = {
  served: 0,
  'served-unconfirmed': 0,
  aborted: 0,
  unanswered: 0,
  stalled: 0,
  'read-failed': 0,
  'client-confused': 0,
  cancelled: 0,
  malformed: 0,
  'write-request': 0,
  'name-refused': 0,
  'not-served': 0,
  'file-empty': 0,
  'file-unreadable': 0,
  'limit-total': 0,
  'limit-per-client': 0,
  'no-free-port': 0,
  'socket-failed': 0,
  stopping: 0,
}

/** Counts how requests end; every name is there from the start. */
export function createRequestTally(): RequestTally {
  const requests = { ...noRequests }
  let sentBytes = 0
  let retransmits = 0
  let strayPackets = 0
  return {
    note(event) {
      switch (event.type) {
        case 'ended':
          requests[event.outcome]++
          sentBytes += event.figures.deliveredBytes
          retransmits += event.figures.repeatedBlocks
          return
        case 'refused':
          requests[event.reason]++
          return
        case 'ignored':
          if (event.reason === 'stray-packet') strayPackets++
          else requests[event.reason]++
          return
        case 'requested':
        case 'started':
        case 'progressed':
        case 'segmentation-failed':
      }
    },
    counts: () => ({ requests: { ...requests }, sentBytes, retransmits, strayPackets }),
  }
}
