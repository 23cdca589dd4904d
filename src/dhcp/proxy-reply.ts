import { unspecifiedIpv4 } from '../core/ipv4.ts'
import { type DhcpAnswer, type SilenceReason, silence } from './answer.ts'
import { assembleReply } from './assemble-reply.ts'
import { bootFields } from './boot-fields.ts'
import { type Destination, type DhcpPorts, replyDestination } from './destination.ts'
import type { ProxyStyle } from './dhcp-advice.ts'
import type { HandOut } from './loader-ladder.ts'
import { messageType } from './option-codes.ts'
import type { DhcpPacket } from './packet.ts'
import type { PxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'

export interface ProxyRequest {
  readonly packet: DhcpPacket
  readonly client: PxeClient
  readonly handOut: HandOut
  readonly style: ProxyStyle
  readonly server: ServerIdentity
  readonly ports: DhcpPorts
}

/**
 * Whether a proxy has anything to say to this message on port 67: to DISCOVER alone. A REQUEST is for the site's DHCP
 * server, and a refusal from us would send machines to their disks (field case 22).
 */
export function proxyListensTo(packet: DhcpPacket): SilenceReason | undefined {
  if (packet.messageType === messageType.discover) return undefined
  return packet.messageType === undefined ? 'message-type-missing' : 'not-for-proxy'
}

/** The offer of boot files beside somebody else's offer of an address. Only to those who ask for it by name (40). */
export function answerAsProxy(request: ProxyRequest): DhcpAnswer {
  const { packet, client, ports } = request
  const unheard = proxyListensTo(packet)
  if (unheard) return silence(unheard)
  if (client.bootClass === 'other') return silence('not-pxe-by-name')
  return bootAnswer(request, 'offer', replyDestination(packet, false, ports))
}

/**
 * The answer on port 4011: an acknowledgement without an address, to where the request came from. EDK2 asks from 4011,
 * iPXE from 68. A client that cannot be reached there has no address yet and is asking the wrong port.
 */
export function answerAsBootServer(request: ProxyRequest, source: Destination): DhcpAnswer {
  const { messageType: type } = request.packet
  if (type === undefined) return silence('message-type-missing')
  if (type !== messageType.request && type !== messageType.inform)
    return silence('boot-server-request-wrong-type')
  if (request.client.bootClass === 'other') return silence('not-pxe-by-name')
  if (source.address === 0 || source.port === 0) return silence('boot-server-request-without-address')
  return bootAnswer(request, 'acknowledge', source)
}

function bootAnswer(
  request: ProxyRequest,
  kind: 'offer' | 'acknowledge',
  destination: Destination,
): DhcpAnswer {
  const { packet, client, handOut, style, server } = request
  if (handOut.kind === 'nothing') return silence(handOut.reason)
  // UEFI's PXE would take the URL of its HTTP sibling for a file name.
  if (client.mismatch === 'pxe-class-with-http-architecture') return silence(client.mismatch)
  const role = kind === 'offer' ? 'proxy-offer' : 'boot-server'
  const boot = bootFields({ request: packet, client, handOut, style, role, server })
  return assembleReply(packet, { kind, yiaddr: unspecifiedIpv4, options: [], boot, server, destination })
}
