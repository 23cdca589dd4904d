import { unspecifiedIpv4 } from '../core/ipv4.ts'
import { type DhcpAnswer, silence } from './answer.ts'
import { assembleReply } from './assemble-reply.ts'
import { bootFields } from './boot-fields.ts'
import { type DhcpPorts, replyDestination } from './destination.ts'
import type { DhcpAdvice } from './dhcp-advice.ts'
import type { LeaseAnswer } from './leases/lease-answer.ts'
import type { HandOut } from './loader-ladder.ts'
import { leaseTimeOptions } from './network-options.ts'
import { optionCode } from './option-codes.ts'
import { type DhcpOption, textOption } from './options.ts'
import type { DhcpPacket } from './packet.ts'
import type { PxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'

/** How a boot client goes on; absent for machines that only want an address. */
export interface BootWish {
  readonly client: PxeClient
  readonly advice: DhcpAdvice
  readonly handOut: Exclude<HandOut, { readonly kind: 'nothing' }>
}

export interface ServerRequest {
  readonly packet: DhcpPacket
  readonly answer: LeaseAnswer
  readonly boot: BootWish | undefined
  /** Of the client's subnet; see `networkOptions`. */
  readonly networkOptions: readonly DhcpOption[]
  readonly hostName: string | undefined
  readonly server: ServerIdentity
  readonly ports: DhcpPorts
}

/** The reply of the DHCP server of a subnet, boot files included; or silence with the reason. */
export function answerAsServer(request: ServerRequest): DhcpAnswer {
  const { packet, answer, server, ports } = request
  if (answer.kind === 'silent') return silence(answer.reason)
  const destination = replyDestination(packet, answer.kind === 'refuse', ports)
  if (answer.kind === 'refuse') {
    return assembleReply(packet, {
      kind: 'refuse',
      yiaddr: unspecifiedIpv4,
      options: [],
      boot: undefined,
      server,
      destination,
    })
  }
  return assembleReply(packet, {
    kind: answer.kind === 'offer' ? 'offer' : 'acknowledge',
    yiaddr: answer.kind === 'inform' ? unspecifiedIpv4 : answer.address,
    options: optionsOf(request, answer),
    boot: bootOf(request),
    server,
    destination,
  })
}

function optionsOf(
  { networkOptions, hostName }: ServerRequest,
  answer: Exclude<LeaseAnswer, { readonly kind: 'silent' | 'refuse' }>,
): readonly DhcpOption[] {
  const options =
    answer.kind === 'inform'
      ? [...networkOptions]
      : leaseTimeOptions(answer.leaseSeconds).concat(networkOptions)
  if (hostName !== undefined) options.push(textOption(optionCode.hostName, hostName))
  return options
}

function bootOf({ packet, boot, server }: ServerRequest): ReturnType<typeof bootFields> | undefined {
  if (boot === undefined) return undefined
  const { client, handOut } = boot
  return bootFields({ request: packet, client, handOut, style: 'direct', role: 'address-server', server })
}
