import type { Sighting } from '../boot/strangers.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { DhcpEvent } from '../dhcp/dhcp-event.ts'

/**
 * The step of a boot behind an event of DHCP. `undefined` for what is none: machines that only want an address, and
 * packets that tell nobody apart.
 */
export function bootStepOfDhcp(event: DhcpEvent): BootEvent | undefined {
  switch (event.type) {
    case 'offered':
    case 'acknowledged':
      return answered(event)
    case 'ignored':
      return unanswered(event)
    case 'offers-unanswered':
      return troubled(event)
    case 'loop-suspected':
      return troubled(event, event.handOut)
    case 'client-contradicts-itself':
      return troubled(event, event.mismatch)
    default:
      return undefined
  }
}

function answered(event: DhcpEvent & { readonly type: 'offered' | 'acknowledged' }): BootEvent | undefined {
  if (event.handOut === undefined) return undefined
  const { at, mac, host, role, question, address, target, decision, reason } = event
  return {
    type: 'dhcp-answered',
    at,
    mac,
    host,
    role,
    message: event.type === 'offered' ? 'offer' : 'acknowledge',
    asked: question,
    address,
    target,
    decision,
    reason,
  }
}

function unanswered({
  at,
  mac,
  port,
  reason,
  question,
  chosen,
  address,
}: DhcpEvent & { readonly type: 'ignored' }): BootEvent | undefined {
  if (mac === undefined || question === undefined) return undefined
  return {
    type: 'dhcp-unanswered',
    at,
    mac,
    port: port === 'proxy' ? 4011 : 67,
    reason,
    asked: question,
    chosen,
    address,
  }
}

type Trouble = (BootEvent & { readonly type: 'dhcp-troubled' })['trouble']

function troubled(
  { type, at, mac }: DhcpEvent & { readonly type: Trouble },
  detail?: string,
): BootEvent | undefined {
  return mac === undefined ? undefined : { type: 'dhcp-troubled', at, mac, trouble: type, detail }
}

/** A machine that no record matches and that unknown machines' policy leaves unanswered. */
export function strangerOfDhcp(event: DhcpEvent): Sighting | undefined {
  if (event.type !== 'ignored' || event.reason !== 'decision-ignore' || event.mac === undefined)
    return undefined
  return { mac: event.mac, at: event.at, decision: 'ignore' }
}
