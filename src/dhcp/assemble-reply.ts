import { type Ipv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import { type DhcpAnswer, type DhcpReply, silence } from './answer.ts'
import type { BootFields } from './boot-fields.ts'
import type { Destination } from './destination.ts'
import { encodeReply, replySizeLimit } from './encode-reply.ts'
import { messageType, optionCode } from './option-codes.ts'
import { byteOption, type DhcpOption, findOption } from './options.ts'
import { broadcastFlag, type DhcpPacket } from './packet.ts'
import type { ServerIdentity } from './server-identity.ts'

export interface ReplyParts {
  readonly kind: DhcpReply['kind']
  readonly yiaddr: Ipv4
  /** Lease time and what the network is like; not in proxy answers. */
  readonly options: readonly DhcpOption[]
  readonly boot: BootFields | undefined
  readonly server: ServerIdentity
  readonly destination: Destination
}

const messageTypeOptions = {
  offer: byteOption(optionCode.messageType, messageType.offer),
  acknowledge: byteOption(optionCode.messageType, messageType.acknowledge),
  refuse: byteOption(optionCode.messageType, messageType.refuse),
} as const

/**
 * One reply as bytes: what a reply takes over from its request (RFC 2131 table 3), type and server first, then the
 * network, then how to boot.
 */
export function assembleReply(request: DhcpPacket, parts: ReplyParts): DhcpAnswer {
  const { kind, yiaddr, options, boot, server, destination } = parts
  const relayAgentInformation = findOption(request.options, optionCode.relayAgentInformation)
  const encoded = encodeReply({
    htype: request.htype,
    xid: request.xid,
    // Without an address in it, a refusal or a proxy's offer, a relay can only broadcast it (RFC 2131 §4.3.2); dnsmasq's
    // drops it when the flag is not set, as it is not by iPXE's ROMs.
    flags: request.giaddr !== 0 && yiaddr === 0 ? request.flags | broadcastFlag : request.flags,
    ciaddr: kind === 'acknowledge' ? request.ciaddr : unspecifiedIpv4,
    yiaddr,
    siaddr: boot === undefined ? unspecifiedIpv4 : server.address,
    giaddr: request.giaddr,
    chaddr: request.chaddr,
    serverName: boot === undefined ? '' : server.addressText,
    bootFile: boot?.bootFile ?? '',
    options: [messageTypeOptions[kind], server.serverIdentifierOption, ...options, ...(boot?.options ?? [])],
    relayAgentInformation,
    maxSizeBytes: replySizeLimit(findOption(request.options, optionCode.maximumMessageSize)),
    isPaddedAfterBootFile: boot?.isPaddedAfterBootFile ?? false,
  })
  if (!encoded.bytes) return silence(encoded.refused)
  return { kind, bytes: encoded.bytes, destination, yiaddr }
}
