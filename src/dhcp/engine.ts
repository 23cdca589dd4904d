import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import { formatIpv4, formatIpv4Subnet, type Ipv4, parseIpv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import { type DhcpAnswer, type SilenceReason, silence } from './answer.ts'
import { createClientMemory, rememberedBootClient } from './client-memory.ts'
import type { DhcpPorts } from './destination.ts'
import type { DecideForDhcp, DhcpAdvice } from './dhcp-advice.ts'
import type { DhcpEvent } from './dhcp-event.ts'
import type { DhcpSettings } from './dhcp-settings.ts'
import { type ClientKey, keyOfMac, keyWithoutMac, macOf, macOfKey } from './hardware-address.ts'
import { createLearnedAddresses, type LearnedAddresses } from './learned-addresses.ts'
import { type AddressServer, createAddressServer } from './leases/address-server.ts'
import type { LeaseChange } from './leases/lease.ts'
import type { LeaseAnswer } from './leases/lease-answer.ts'
import { climbLadder, type HandOut } from './loader-ladder.ts'
import { messageType, optionCode } from './option-codes.ts'
import { findOption, readIpv4 } from './options.ts'
import { type DhcpPacket, decodePacket } from './packet.ts'
import { answerAsBootServer, answerAsProxy, proxyListensTo } from './proxy-reply.ts'
import { type PxeClient, type PxeClientResult, readPxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'
import { answerAsServer, type BootWish } from './server-reply.ts'
import { noteOffer } from './unanswered-offers.ts'

/** One network that we listen on. */
export interface Wire {
  readonly interface: string
  /** Absent while the interface has no address: nothing can be answered then. */
  readonly server: ServerIdentity | undefined
}

export interface DatagramSource {
  /** A dotted quad, as sockets give it; parsed only where it is needed. */
  readonly address: string
  readonly port: number
}

export interface Datagram {
  readonly bytes: Uint8Array
  /** The port that it came in by: 67, or 4011. */
  readonly port: 'server' | 'proxy'
  readonly source: DatagramSource
  readonly wire: Wire
}

export interface EngineResult {
  readonly answer: DhcpAnswer
  /** To be stored; the answer leaves only afterwards. */
  readonly change: LeaseChange | undefined
}

export interface DhcpEngineParts {
  readonly settings: DhcpSettings
  readonly ports: DhcpPorts
  readonly decide: DecideForDhcp
  readonly clock: Clock
  readonly onEvent: (event: DhcpEvent) => void
  /** Whether an address is reserved by a host record; it goes to nobody else. */
  readonly isReservedAddress: (address: Ipv4) => boolean
  /** Our identity by its address, whatever wire it is on. */
  readonly identityOf: (address: Ipv4) => ServerIdentity | undefined
}

/** Everything between a datagram and its answer; no sockets, no files, and nothing that waits. */
export interface DhcpEngine {
  /** Never throws for anything that a datagram holds. */
  handle(datagram: Datagram): EngineResult
  /** Absent in proxy mode. */
  readonly addresses: AddressServer | undefined
  readonly learned: LearnedAddresses
  /** Takes over which machines hold which addresses, after a start. */
  learnFromLeases(changes: readonly LeaseChange[]): void
  /** A machine went on after its offer by TFTP or HTTP. */
  noteContact(mac: MacAddress): void
  /** Machines that let a whole run of offers pass (field case 5). */
  unansweredClients(): readonly ClientKey[]
}

/** One packet on its way through. */
interface Exchange {
  readonly packet: DhcpPacket
  readonly key: ClientKey
  readonly mac: MacAddress | undefined
  readonly server: ServerIdentity
  readonly datagram: Datagram
  readonly now: number
}

interface BootStep {
  readonly client: PxeClient
  readonly advice: DhcpAdvice
  readonly handOut: HandOut
}

export function createDhcpEngine({
  settings,
  ports,
  decide,
  clock,
  onEvent,
  isReservedAddress,
  identityOf,
}: DhcpEngineParts): DhcpEngine {
  const memory = createClientMemory()
  const learned = createLearnedAddresses()
  const isOurAddress = (address: Ipv4): boolean => identityOf(address) !== undefined
  const addresses =
    settings.mode === 'server'
      ? createAddressServer({ settings, isReserved: isReservedAddress, isOurs: isOurAddress })
      : undefined

  function handle(datagram: Datagram): EngineResult {
    const decoded = decodePacket(datagram.bytes)
    const mac = decoded.packet && macOf(decoded.packet)
    const result = decoded.packet ? dispatch(decoded.packet, mac, datagram) : silent(decoded.refused)
    if (result.answer.kind === 'silent') {
      const { reason } = result.answer
      onEvent({ type: 'ignored', at: clock.now(), interface: datagram.wire.interface, mac, reason })
    }
    return result
  }

  function dispatch(packet: DhcpPacket, mac: MacAddress | undefined, datagram: Datagram): EngineResult {
    if (packet.op !== 1) return silent('not-a-request')
    const key = mac === undefined ? keyWithoutMac(packet) : keyOfMac(mac)
    if (key === undefined) return silent('client-unidentified')
    const { server } = datagram.wire
    if (server === undefined) return silent('interface-has-no-address')
    const exchange = { packet, key, mac, server, datagram, now: clock.now() }
    noteProgress(exchange)
    if (datagram.port === 'proxy') return { answer: answerBootServer(exchange), change: undefined }
    return addresses === undefined
      ? { answer: answerProxy(exchange), change: undefined }
      : answerServer(exchange, addresses)
  }

  function answerProxy(exchange: Exchange): DhcpAnswer {
    const { packet, server } = exchange
    const unheard = proxyListensTo(packet)
    if (unheard) return silence(unheard)
    const result = readPxeClient(packet, exchange.mac)
    if (!result.client) return silence(result.reason)
    const { client, advice, handOut } = takeStep(exchange, result.client)
    const answer = answerAsProxy({
      packet,
      client,
      handOut,
      style: advice.style ?? settings.style,
      server,
      ports,
    })
    if (answer.kind === 'silent') return answer
    noteOffered(exchange)
    report(exchange, 'offered', 'proxy', { client, handOut }, undefined)
    return answer
  }

  function answerBootServer(exchange: Exchange): DhcpAnswer {
    const { packet, server, datagram } = exchange
    const result = readPxeClient(packet, exchange.mac)
    if (!result.client) return silence(result.reason)
    const { client, advice, handOut } = takeStep(exchange, result.client)
    const style = advice.style ?? settings.style
    const { address, port } = datagram.source
    const source = { address: parseIpv4(address) ?? unspecifiedIpv4, port }
    const answer = answerAsBootServer({ packet, client, handOut, style, server, ports }, source)
    if (answer.kind !== 'silent')
      report(exchange, 'acknowledged', 'boot-server', { client, handOut }, undefined)
    return answer
  }

  function answerServer(exchange: Exchange, addressServer: AddressServer): EngineResult {
    const { packet, key, now } = exchange
    const boot = bootStepOf(exchange)
    if ('reason' in boot) return silent(boot.reason)
    const reserved = boot.advice.address
    const asked = addressServer.answer({
      packet,
      key,
      wireAddress: exchange.server.address,
      reserved,
      isKnown: boot.advice.host !== undefined,
      isOurServer: isOurAddress,
      now: Math.floor(now / 1000),
    })
    if (asked.subnet === undefined) return silent('subnet-unknown')
    if (asked.turned) {
      const subnet = formatIpv4Subnet(asked.subnet.subnet)
      onEvent({
        ...base(exchange),
        type: asked.turned === 'exhausted' ? 'pool-exhausted' : 'pool-available',
        subnet,
      })
    }
    if (asked.isReservationUnavailable && reserved !== undefined)
      onEvent({ ...base(exchange), type: 'reservation-unavailable', address: formatIpv4(reserved) })

    const { answer } = asked
    const reply = answerAsServer({
      packet,
      answer,
      boot: boot.wish,
      networkOptions: asked.networkOptions,
      hostName: boot.advice.hostName,
      server: chosenIdentity(exchange),
      ports,
    })
    noteLease(exchange, answer, boot.wish, reply)
    return { answer: reply, change: 'change' in answer ? answer.change : undefined }
  }

  /** How the client of an address server boots, if it does; or why it must not be answered at all. */
  function bootStepOf(
    exchange: Exchange,
  ): { readonly advice: DhcpAdvice; readonly wish?: BootWish } | { readonly reason: SilenceReason } {
    const { packet, mac } = exchange
    const asksForBoot =
      packet.messageType === messageType.discover ||
      packet.messageType === messageType.request ||
      packet.messageType === messageType.inform
    const result = asksForBoot ? rememberedOr(exchange, readPxeClient(packet, mac)) : undefined
    if (result?.client) {
      const { client, advice, handOut } = takeStep(exchange, result.client)
      // Half an offer is worse than none: firmware with an address and no file reports an error (field case 166).
      return handOut.kind === 'nothing' ? { reason: handOut.reason } : { advice, wish: { client, handOut } }
    }
    if (result?.reason === 'architecture-unknown') return { reason: result.reason }
    return { advice: decide(addressClient(mac)) }
  }

  /** Old Raspberry Pi ROMs say what they are in the DISCOVER alone (field case 42). */
  function rememberedOr({ packet, key, now }: Exchange, result: PxeClientResult): PxeClientResult {
    if (packet.messageType === messageType.discover) {
      if (result.client) memory.recall(key).discover = { client: result.client, xid: packet.xid, at: now }
      else forgetDiscover(key)
      return result
    }
    if (result.client || packet.messageType !== messageType.request) return result
    const client = rememberedBootClient(memory.find(key), packet.xid, now)
    return client === undefined ? result : { client }
  }

  function forgetDiscover(key: ClientKey): void {
    const remembered = memory.find(key)
    if (remembered) remembered.discover = undefined
  }

  function takeStep(exchange: Exchange, client: PxeClient): BootStep {
    const { key, packet, server, now } = exchange
    const advice = decide(client)
    const config = { baseUrl: server.baseUrl, loaders: settings.loaders }
    const stage = memory.find(key)?.stage
    const {
      handOut,
      memory: next,
      isLooping,
    } = climbLadder({ client, advice, config, memory: stage, xid: packet.xid, now })
    if (next !== undefined && next !== stage) {
      memory.recall(key).stage = next
      if (isLooping) onEvent({ ...base(exchange), type: 'loop-suspected', handOut: handOut.kind })
    }
    if (client.mismatch)
      onEvent({ ...base(exchange), type: 'client-contradicts-itself', mismatch: client.mismatch })
    return { client, advice, handOut }
  }

  /** What the packet itself shows: which address the machine holds, and that it went on after an offer. */
  function noteProgress({ packet, key, mac, datagram }: Exchange): void {
    const isRequest = packet.messageType === messageType.request
    if (isRequest || datagram.port === 'proxy') forgetOffers(key)
    // An address server knows better than what clients say.
    if (mac === undefined || addresses !== undefined || !isRequest) return
    const requested = readIpv4(findOption(packet.options, optionCode.requestedAddress))
    const address = requested ?? packet.ciaddr
    if (address !== 0) learned.note(mac, address)
  }

  function noteOffered(exchange: Exchange): void {
    const remembered = memory.recall(exchange.key)
    const wasUnanswered = remembered.offer?.isUnanswered === true
    remembered.offer = noteOffer(remembered.offer, exchange.packet.xid)
    if (remembered.offer.isUnanswered && !wasUnanswered)
      onEvent({ ...base(exchange), type: 'offers-unanswered' })
  }

  function forgetOffers(key: ClientKey): void {
    const remembered = memory.find(key)
    if (remembered) remembered.offer = undefined
  }

  function noteLease(
    exchange: Exchange,
    answer: LeaseAnswer,
    wish: BootWish | undefined,
    reply: DhcpAnswer,
  ): void {
    const { mac } = exchange
    if (answer.kind === 'silent') {
      if (answer.change === undefined || answer.change.kind === 'leased') return
      if (mac !== undefined) learned.forget(mac)
      const address = formatIpv4(answer.change.address)
      onEvent({
        ...base(exchange),
        type: answer.change.kind === 'declined' ? 'declined' : 'released',
        address,
      })
      return
    }
    if (answer.kind === 'refuse') {
      onEvent({ ...base(exchange), type: 'refused', reason: answer.reason })
      return
    }
    if (reply.kind === 'silent') return
    if (answer.kind === 'offer') {
      if (wish) noteOffered(exchange)
      report(exchange, 'offered', 'server', wish, answer.address)
      return
    }
    const address = answer.kind === 'acknowledge' ? answer.address : undefined
    if (address !== undefined && mac !== undefined) learned.note(mac, address)
    report(exchange, 'acknowledged', 'server', wish, address)
  }

  /** A client that chose one of our servers hears from that one, on whatever wire its packet came. */
  function chosenIdentity({ packet, server }: Exchange): ServerIdentity {
    const chosen = readIpv4(findOption(packet.options, optionCode.serverIdentifier))
    return (chosen === undefined ? undefined : identityOf(chosen)) ?? server
  }

  function report(
    exchange: Exchange,
    type: 'offered' | 'acknowledged',
    role: 'proxy' | 'boot-server' | 'server',
    boot: { readonly client: PxeClient; readonly handOut: HandOut } | undefined,
    address: Ipv4 | undefined,
  ): void {
    onEvent({
      type,
      at: exchange.now,
      interface: exchange.datagram.wire.interface,
      mac: exchange.mac,
      role,
      address: address === undefined ? undefined : formatIpv4(address),
      platform: boot?.client.platform,
      handOut: boot?.handOut.kind,
    })
  }

  return {
    handle,
    addresses,
    learned,
    learnFromLeases(changes) {
      for (const change of changes) {
        const mac = change.kind === 'leased' ? macOfKey(change.key) : undefined
        if (mac !== undefined) learned.note(mac, change.address)
      }
    },
    noteContact: (mac) => forgetOffers(keyOfMac(mac)),
    unansweredClients: () =>
      [...memory.entries()].filter(([, { offer }]) => offer?.isUnanswered).map(([key]) => key),
  }
}

function silent(reason: SilenceReason): EngineResult {
  return { answer: silence(reason), change: undefined }
}

function base({ now, datagram, mac }: Exchange): {
  at: number
  interface: string
  mac: MacAddress | undefined
} {
  return { at: now, interface: datagram.wire.interface, mac }
}

/** A machine that only wants an address; its host record may reserve one. */
function addressClient(mac: MacAddress | undefined): BootClient {
  return { macs: mac === undefined ? [] : [mac], firmware: 'unknown', loader: 'none' }
}
