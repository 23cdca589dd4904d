import { type DhcpReply, type SilenceReason, silenceReasons } from './answer.ts'
import { messageType } from './option-codes.ts'

/** What clients send; `other` is everything else that comes in, unreadable or not for servers. */
export const packetTypes = ['discover', 'request', 'decline', 'release', 'inform', 'other'] as const
export type PacketType = (typeof packetTypes)[number]

export type PacketOutcome = DhcpReply['kind'] | 'unanswered'

/** How many packets ended how, since the start; every name is there from the beginning. */
export interface DhcpCounts {
  readonly packets: Readonly<Record<PacketType, Readonly<Record<PacketOutcome, number>>>>
  readonly replies: Readonly<Record<DhcpReply['kind'], number>>
  readonly silences: Readonly<Record<SilenceReason, number>>
}

export interface PacketTally {
  /** @param type option 53 of the packet; absent when there was none or nothing could be read */
  noteReply(type: number | undefined, kind: DhcpReply['kind']): void
  noteSilence(type: number | undefined, reason: SilenceReason): void
  counts(): DhcpCounts
}

const typeByCode: Readonly<Record<number, PacketType>> = {
  [messageType.discover]: 'discover',
  [messageType.request]: 'request',
  [messageType.decline]: 'decline',
  [messageType.release]: 'release',
  [messageType.inform]: 'inform',
}

/** Plain numbers that are read when somebody asks: a packet must not wait for its statistics. */
export function createPacketTally(): PacketTally {
  const packets = Object.fromEntries(
    packetTypes.map((type) => [type, { offer: 0, acknowledge: 0, refuse: 0, unanswered: 0 }]),
  ) as Record<PacketType, Record<PacketOutcome, number>>
  const silences = Object.fromEntries(silenceReasons.map((reason) => [reason, 0])) as Record<
    SilenceReason,
    number
  >

  function rowOf(type: number | undefined): Record<PacketOutcome, number> {
    return packets[(type === undefined ? undefined : typeByCode[type]) ?? 'other']
  }

  function sum(kind: PacketOutcome): number {
    return packetTypes.reduce((total, type) => total + packets[type][kind], 0)
  }

  return {
    noteReply(type, kind) {
      rowOf(type)[kind]++
    },
    noteSilence(type, reason) {
      rowOf(type).unanswered++
      silences[reason]++
    },
    counts: () => ({
      packets: structuredClone(packets),
      replies: { offer: sum('offer'), acknowledge: sum('acknowledge'), refuse: sum('refuse') },
      silences: { ...silences },
    }),
  }
}
