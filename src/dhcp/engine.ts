import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import { formatIpv4, formatIpv4Subnet, type Ipv4, parseIpv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import { type DhcpAnswer, type SilenceReason, silence } from './answer.ts'
import { createBootSteps } from './boot-step.ts'
import { type ClientFollower, createClientFollower } from './client-follower.ts'
import type { DhcpPorts } from './destination.ts'
import type { DecideForDhcp, DhcpAdvice } from './dhcp-advice.ts'
import type { DhcpEvent } from './dhcp-event.ts'
import type { DhcpSettings } from './dhcp-settings.ts'
import type { Datagram, Exchange } from './exchange.ts'
import { keyOfMac, keyWithoutMac, macOf } from './hardware-address.ts'
import { type AddressServer, createAddressServer } from './leases/address-server.ts'
import type { LeaseChange } from './leases/lease.ts'
import type { LeaseAnswer } from './leases/lease-answer.ts'
import { messageType, optionCode } from './option-codes.ts'
import { findOption, readIpv4 } from './options.ts'
import { type DhcpPacket, decodePacket } from './packet.ts'
import { answerAsBootServer, answerAsProxy, proxyListensTo } from './proxy-reply.ts'
import { readPxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'
import { answerAsServer, type BootWish } from './server-reply.ts'

export interface EngineResult {
  readonly answer: DhcpAnswer
  /** To be stored; the answer leaves only afterwards. */
  readonly change: LeaseChange | undefined
  /** Option 53 of the packet. */
  readonly messageType: number | undefined
}

type Handled = Omit<EngineResult, 'messageType'>

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
  readonly follower: ClientFollower
}

export function createDhcpEngine(parts: DhcpEngineParts): DhcpEngine {
  const { settings, ports, decide, clock, onEvent, isReservedAddress, identityOf } = parts
  const isOurAddress = (address: Ipv4): boolean => identityOf(address) !== undefined
  const addresses =
    settings.mode === 'server'
      ? createAddressServer({ settings, isReserved: isReservedAddress, isOurs: isOurAddress })
      : undefined
  const follower = createClientFollower({ onEvent, isAddressServer: addresses !== undefined })
  const steps = createBootSteps({ decide, loaders: settings.loaders, follower })

  function handle(datagram: Datagram): EngineResult {
    const decoded = decodePacket(datagram.bytes)
    if (decoded.packet === undefined) return noRequest(datagram, decoded.refused, undefined, undefined)
    const { packet } = decoded
    const mac = macOf(packet)
    const exchange = exchangeOf(packet, mac, datagram)
    if (typeof exchange === 'string') return noRequest(datagram, exchange, mac, packet.messageType)
    const { answer, change } = answerTo(exchange)
    if (answer.kind === 'silent') follower.noteIgnored(exchange, answer.reason)
    return { answer, change, messageType: packet.messageType }
  }

  /** A packet that is nobody's request, or that cannot be answered whatever it asks. */
  function noRequest(
    { port, wire }: Datagram,
    reason: SilenceReason,
    mac: MacAddress | undefined,
    type: number | undefined,
  ): EngineResult {
    onEvent({ type: 'ignored', at: clock.now(), interface: wire.interface, mac, reason, port })
    return { answer: silence(reason), change: undefined, messageType: type }
  }

  function exchangeOf(
    packet: DhcpPacket,
    mac: MacAddress | undefined,
    datagram: Datagram,
  ): Exchange | SilenceReason {
    if (packet.op !== 1) return 'not-a-request'
    const key = mac === undefined ? keyWithoutMac(packet) : keyOfMac(mac)
    if (key === undefined) return 'client-unidentified'
    const { server } = datagram.wire
    if (server === undefined) return 'interface-has-no-address'
    const now = clock.now()
    return { packet, key, mac, server, datagram, now, memory: undefined, client: undefined }
  }

  function answerTo(exchange: Exchange): Handled {
    const { datagram } = exchange
    follower.noteProgress(exchange)
    if (datagram.port === 'proxy') return { answer: answerOnProxyPort(exchange), change: undefined }
    if (addresses === undefined) return { answer: answerBesideServer(exchange), change: undefined }
    return answerWithAddress(exchange, addresses)
  }

  /** Port 67 in proxy mode. */
  function answerBesideServer(exchange: Exchange): DhcpAnswer {
    const { packet, mac, server } = exchange
    const unheard = proxyListensTo(packet)
    if (unheard) return silence(unheard)
    const result = readPxeClient(packet, mac)
    if (!result.client) return silence(result.reason)
    const step = steps.take(exchange, result.client)
    const { client, advice, handOut } = step
    const style = advice.style ?? settings.style
    const answer = answerAsProxy({ packet, client, handOut, style, server, ports })
    if (answer.kind !== 'silent') follower.noteOffered(exchange, 'proxy', step, undefined)
    return answer
  }

  /** Port 4011, in both modes. */
  function answerOnProxyPort(exchange: Exchange): DhcpAnswer {
    const { packet, mac, server, datagram } = exchange
    const result = readPxeClient(packet, mac)
    if (!result.client) return silence(result.reason)
    const step = steps.take(exchange, result.client)
    const { client, advice, handOut } = step
    const source = {
      address: parseIpv4(datagram.source.address) ?? unspecifiedIpv4,
      port: datagram.source.port,
    }
    const style = advice.style ?? settings.style
    const answer = answerAsBootServer({ packet, client, handOut, style, server, ports }, source)
    if (answer.kind !== 'silent') follower.noteAcknowledged(exchange, 'boot-server', step, undefined)
    return answer
  }

  /** Port 67 in server mode. */
  function answerWithAddress(exchange: Exchange, addressServer: AddressServer): Handled {
    const { packet, key, server, now } = exchange
    const wish = wishOf(exchange)
    if ('reason' in wish) return silent(wish.reason)
    const { advice, boot } = wish
    const asked = addressServer.answer({
      packet,
      key,
      wireAddress: server.address,
      reserved: advice.address,
      isKnown: advice.host !== undefined,
      isOurServer: isOurAddress,
      now: Math.floor(now / 1000),
    })
    if (asked.subnet === undefined) return silent('subnet-unknown')
    if (asked.turned)
      follower.tell(exchange, { type: asked.turned, subnet: formatIpv4Subnet(asked.subnet.subnet) })
    if (asked.isReservationUnavailable && advice.address !== undefined)
      follower.tell(exchange, { type: 'reservation-unavailable', address: formatIpv4(advice.address) })

    const { answer } = asked
    const reply = answerAsServer({
      packet,
      answer,
      boot,
      networkOptions: asked.networkOptions,
      hostName: advice.hostName,
      server: chosenIdentity(exchange),
      ports,
    })
    if (reply.kind !== 'silent') noteReply(exchange, answer, boot)
    else if (answer.kind === 'silent') follower.noteOther(exchange, answer)
    return { answer: reply, change: 'change' in answer ? answer.change : undefined }
  }

  /** How the client of an address server boots, if it does; or why it must not be answered at all. */
  function wishOf(
    exchange: Exchange,
  ):
    | { readonly advice: DhcpAdvice; readonly boot: BootWish | undefined }
    | { readonly reason: SilenceReason } {
    const result = wantsAnswer(exchange.packet) ? steps.recognise(exchange) : undefined
    if (result?.client) {
      const { client, advice, handOut } = steps.take(exchange, result.client)
      // Half an offer is worse than none: firmware with an address and no file reports an error (field case 166).
      return handOut.kind === 'nothing'
        ? { reason: handOut.reason }
        : { advice, boot: { client, advice, handOut } }
    }
    if (result?.reason === 'architecture-unknown') return { reason: result.reason }
    return { advice: decide(addressClient(exchange.mac)), boot: undefined }
  }

  function noteReply(exchange: Exchange, answer: LeaseAnswer, boot: BootWish | undefined): void {
    if (answer.kind === 'offer') follower.noteOffered(exchange, 'server', boot, answer.address)
    else if (answer.kind === 'acknowledge')
      follower.noteAcknowledged(exchange, 'server', boot, answer.address)
    else if (answer.kind === 'inform') follower.noteAcknowledged(exchange, 'server', boot, undefined)
    else follower.noteOther(exchange, answer)
  }

  /** A client that chose one of our servers hears from that one, on whatever wire its packet came. */
  function chosenIdentity({ packet, server }: Exchange): ServerIdentity {
    const chosen = readIpv4(findOption(packet.options, optionCode.serverIdentifier))
    return (chosen === undefined ? undefined : identityOf(chosen)) ?? server
  }

  return { handle, addresses, follower }
}

function silent(reason: SilenceReason): Handled {
  return { answer: silence(reason), change: undefined }
}

function wantsAnswer({ messageType: type }: DhcpPacket): boolean {
  return type === messageType.discover || type === messageType.request || type === messageType.inform
}

/** A machine that only wants an address; its host record may reserve one. */
function addressClient(mac: MacAddress | undefined): BootClient {
  return { macs: mac === undefined ? [] : [mac], firmware: 'unknown', loader: 'none' }
}
