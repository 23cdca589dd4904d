import type { DhcpQuestion } from '../core/boot-event.ts'
import { formatIpv4, type Ipv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import type { SilenceReason } from './answer.ts'
import { createClientMemory, type RememberedClient, rememberedBootClient } from './client-memory.ts'
import type { DhcpAdvice } from './dhcp-advice.ts'
import type { DhcpEvent } from './dhcp-event.ts'
import { dhcpQuestionOf, dhcpQuestionOfUnknown } from './dhcp-question.ts'
import type { Exchange } from './exchange.ts'
import { type ClientKey, keyOfMac, macOfKey } from './hardware-address.ts'
import { createLearnedAddresses, type LearnedAddresses } from './learned-addresses.ts'
import type { LeaseChange } from './leases/lease.ts'
import type { LeaseAnswer } from './leases/lease-answer.ts'
import { type HandOut, targetOf } from './loader-ladder.ts'
import { messageType, optionCode } from './option-codes.ts'
import { findOption, readIpv4 } from './options.ts'
import type { DhcpPacket } from './packet.ts'
import { type PxeClient, readPxeClient } from './pxe-client.ts'
import type { StageRecord } from './stage-memory.ts'
import { noteOffer } from './unanswered-offers.ts'

type Told = 'at' | 'interface' | 'mac'
type Untold<E> = E extends { readonly mac: MacAddress | undefined } ? Omit<E, Told> : never
/** What an event says besides when, where and of whom. */
export type ClientNews = Untold<Exclude<DhcpEvent, { readonly type: 'ignored' }>>

export interface Offered {
  readonly client: PxeClient
  readonly advice: DhcpAdvice
  readonly handOut: HandOut
}

export type ReplyRoleName = 'proxy' | 'boot-server' | 'server'

/** Follows machines from packet to packet: what they were told, what they hold, and whether they get any further. */
export interface ClientFollower {
  readonly learned: LearnedAddresses
  /** Tells of something that happens seldom. */
  tell(exchange: Exchange, news: ClientNews): void
  /** What the packet itself shows: which address the machine holds, and that it went on after an offer. */
  noteProgress(exchange: Exchange): void
  stageOf(exchange: Exchange): StageRecord | undefined
  noteStage(exchange: Exchange, stage: StageRecord): void
  /** Keeps who sent a DISCOVER, for its REQUEST; `undefined` when it is no boot client. */
  noteDiscover(exchange: Exchange, client: PxeClient | undefined): void
  /** The boot client whose DISCOVER this REQUEST follows. */
  discovererOf(exchange: Exchange): PxeClient | undefined
  noteOffered(
    exchange: Exchange,
    role: ReplyRoleName,
    boot: Offered | undefined,
    address: Ipv4 | undefined,
  ): void
  noteAcknowledged(
    exchange: Exchange,
    role: ReplyRoleName,
    boot: Offered | undefined,
    address: Ipv4 | undefined,
  ): void
  /** Its packet is left without an answer. */
  noteIgnored(exchange: Exchange, reason: SilenceReason): void
  /** A lease answer that is no offer and no acknowledgement. */
  noteOther(exchange: Exchange, answer: LeaseAnswer): void
  noteContact(mac: MacAddress): void
  /** Its loader came as far as a decision: no loop, however often it boots. */
  noteDecision(mac: MacAddress): void
  learnFromLeases(changes: readonly LeaseChange[]): void
  unansweredClients(): readonly ClientKey[]
  /** What the machine's last DISCOVER as a boot client said of it. */
  machineOf(mac: MacAddress): PxeClient | undefined
}

export function createClientFollower({
  onEvent,
  isAddressServer,
}: {
  readonly onEvent: (event: DhcpEvent) => void
  readonly isAddressServer: boolean
}): ClientFollower {
  const memory = createClientMemory()
  const learned = createLearnedAddresses()

  function tell({ now, datagram, mac }: Exchange, news: ClientNews): void {
    onEvent({ at: now, interface: datagram.wire.interface, mac, ...news } as DhcpEvent)
  }

  /** For every packet: written out, because copying an object costs as much as making a reply. */
  function report(
    exchange: Exchange,
    type: 'offered' | 'acknowledged',
    role: ReplyRoleName,
    boot: Offered | undefined,
    address: Ipv4 | undefined,
  ): void {
    const { now, datagram, mac } = exchange
    onEvent({
      type,
      at: now,
      interface: datagram.wire.interface,
      mac,
      role,
      address: address === undefined ? undefined : formatIpv4(address),
      question: boot === undefined ? undefined : dhcpQuestionOf(exchange, boot.client),
      platform: boot?.client.platform,
      handOut: boot?.handOut.kind,
      target: boot === undefined ? undefined : targetOf(boot.handOut),
      host: boot?.advice.host,
      decision: boot?.advice.kind,
      reason: boot?.advice.reason,
    })
  }

  function find(exchange: Exchange): RememberedClient | undefined {
    exchange.memory ??= memory.find(exchange.key)
    return exchange.memory
  }

  function recall(exchange: Exchange): RememberedClient {
    exchange.memory ??= memory.recall(exchange.key)
    return exchange.memory
  }

  function watchOffers(exchange: Exchange): void {
    const remembered = recall(exchange)
    const wasUnanswered = remembered.offer?.isUnanswered === true
    remembered.offer = noteOffer(remembered.offer, exchange.packet.xid)
    if (remembered.offer.isUnanswered && !wasUnanswered) tell(exchange, { type: 'offers-unanswered' })
  }

  return {
    learned,
    tell,
    noteProgress(exchange) {
      const { packet, mac, datagram } = exchange
      const isRequest = packet.messageType === messageType.request
      const remembered = isRequest || datagram.port === 'proxy' ? find(exchange) : undefined
      if (remembered) remembered.offer = undefined
      // An address server knows better than what clients say.
      if (mac === undefined || isAddressServer || !isRequest) return
      const address = addressTaken(packet)
      if (address !== undefined) learned.note(mac, address)
    },
    stageOf: (exchange) => find(exchange)?.stage,
    noteStage(exchange, stage) {
      recall(exchange).stage = stage
    },
    noteIgnored(exchange, reason) {
      const { packet, datagram, mac, now } = exchange
      const question = ignoredQuestion(exchange, reason)
      const isRequest = question?.message === 'request'
      const chosen = isRequest ? readIpv4(findOption(packet.options, optionCode.serverIdentifier)) : undefined
      const address = isRequest ? addressTaken(packet) : undefined
      onEvent({
        type: 'ignored',
        at: now,
        interface: datagram.wire.interface,
        mac,
        reason,
        port: datagram.port,
        question,
        chosen: chosen === undefined ? undefined : formatIpv4(chosen),
        address: address === undefined ? undefined : formatIpv4(address),
      })
    },
    noteDiscover(exchange, client) {
      const { packet, now } = exchange
      const remembered = client === undefined ? find(exchange) : recall(exchange)
      if (remembered) remembered.discover = client && { client, xid: packet.xid, at: now }
    },
    discovererOf: (exchange) => rememberedBootClient(find(exchange), exchange.packet.xid, exchange.now),
    noteOffered(exchange, role, boot, address) {
      if (boot) watchOffers(exchange)
      report(exchange, 'offered', role, boot, address)
    },
    noteAcknowledged(exchange, role, boot, address) {
      if (address !== undefined && exchange.mac !== undefined) learned.note(exchange.mac, address)
      report(exchange, 'acknowledged', role, boot, address)
    },
    noteOther(exchange, answer) {
      if (answer.kind === 'refuse') tell(exchange, { type: 'refused', reason: answer.reason })
      if (answer.kind !== 'silent' || answer.change === undefined || answer.change.kind === 'leased') return
      if (exchange.mac !== undefined) learned.forget(exchange.mac)
      tell(exchange, { type: answer.change.kind, address: formatIpv4(answer.change.address) })
    },
    noteContact(mac) {
      const remembered = memory.find(keyOfMac(mac))
      if (remembered) remembered.offer = undefined
    },
    noteDecision(mac) {
      const remembered = memory.find(keyOfMac(mac))
      if (remembered === undefined) return
      remembered.offer = undefined
      remembered.stage = undefined
    },
    learnFromLeases(changes) {
      for (const change of changes) {
        const mac = change.kind === 'leased' ? macOfKey(change.key) : undefined
        if (mac !== undefined) learned.note(mac, change.address)
      }
    },
    machineOf: (mac) => memory.find(keyOfMac(mac))?.discover?.client,
    unansweredClients: () =>
      [...memory.entries()].filter(([, { offer }]) => offer?.isUnanswered).map(([key]) => key),
  }
}

/** The address that a REQUEST takes or keeps. */
function addressTaken({ options, ciaddr }: DhcpPacket): Ipv4 | undefined {
  const address = readIpv4(findOption(options, optionCode.requestedAddress)) ?? ciaddr
  return address === 0 ? undefined : address
}

/** A proxy does not read a REQUEST before it leaves it alone; that of a boot client says which server it chose. */
function ignoredQuestion(exchange: Exchange, reason: SilenceReason): DhcpQuestion | undefined {
  if (exchange.client !== undefined) return dhcpQuestionOf(exchange, exchange.client)
  if (reason === 'not-a-boot-client') return undefined
  const read = readPxeClient(exchange.packet, exchange.mac)
  if (read.client !== undefined) return dhcpQuestionOf(exchange, read.client)
  return read.reason === 'architecture-unknown' ? dhcpQuestionOfUnknown(exchange) : undefined
}
