import type { Sighting } from '../boot/strangers.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { MacAddress } from '../core/mac.ts'
import type { DhcpEvent } from '../dhcp/dhcp-event.ts'
import type { TftpEvent } from '../tftp/event.ts'

/** The step of a boot behind an event of DHCP; `undefined` for what is none: refusals, and machines that only want an address. */
export function bootStepOfDhcp(event: DhcpEvent): BootEvent | undefined {
  if ((event.type !== 'offered' && event.type !== 'acknowledged') || event.handOut === undefined) {
    return undefined
  }
  const { at, mac, host, role, address, target, decision, reason } = event
  const message = event.type === 'offered' ? 'offer' : 'acknowledge'
  return { type: 'dhcp-answered', at, mac, host, role, message, address, target, decision, reason }
}

/** A machine that no record matches and that unknown machines' policy leaves unanswered. */
export function strangerOfDhcp(event: DhcpEvent): Sighting | undefined {
  if (event.type !== 'ignored' || event.reason !== 'decision-ignore' || event.mac === undefined)
    return undefined
  return { mac: event.mac, at: event.at, decision: 'ignore' }
}

/**
 * The step of a boot behind an event of TFTP: a transfer that is over and brought something. A look at the size alone
 * (field case 60) and a request from an invented address are none.
 */
export function bootStepOfTftp(
  event: TftpEvent,
  macOf: (address: string) => MacAddress | undefined,
): BootEvent | undefined {
  if (event.type !== 'ended' || event.figures.deliveredBytes === 0) return undefined
  const { at, client, name, outcome, figures } = event
  return {
    type: 'tftp-ended',
    at,
    mac: macOf(client.address),
    address: client.address,
    file: name.path,
    isWhole: outcome === 'served' || outcome === 'served-unconfirmed',
    sentBytes: figures.deliveredBytes,
    durationMs: figures.durationMs,
  }
}
