import type { Clock } from '../core/clock.ts'
import { createLineLimiter } from '../core/line-limiter.ts'
import type { Log } from '../core/log.ts'
import type { DhcpEvent } from './dhcp-event.ts'

interface LineStyle {
  readonly level: keyof Log
  readonly message: string
}

/** A machine that boots is told in a few lines; what needs a person says what to do. */
const lines: Readonly<Record<Exclude<DhcpEvent['type'], 'offered' | 'acknowledged'>, LineStyle>> = {
  refused: { level: 'info', message: 'DHCP request refused' },
  ignored: { level: 'debug', message: 'DHCP packet ignored' },
  'offers-unanswered': {
    level: 'warn',
    message: 'DHCP offers were not followed up: put the boot options into the DHCP server of the site',
  },
  'loop-suspected': {
    level: 'warn',
    message:
      'a machine asks for the same boot stage again and again: its loader does not start or does not go on',
  },
  'client-contradicts-itself': { level: 'info', message: 'DHCP options 60 and 93 contradict each other' },
  declined: { level: 'warn', message: 'an address was declined: somebody else has it' },
  released: { level: 'debug', message: 'an address was given back' },
  'reservation-unavailable': { level: 'warn', message: 'a reserved address is held by another machine' },
  'pool-exhausted': { level: 'error', message: 'no free address is left in a subnet' },
  'pool-available': { level: 'info', message: 'a subnet has free addresses again' },
  'interface-ready': { level: 'info', message: 'DHCP answers on an interface' },
  'interface-not-ready': { level: 'warn', message: 'DHCP cannot answer on an interface yet' },
  'send-failed': { level: 'warn', message: 'a DHCP answer could not be sent' },
  'packet-failed': { level: 'error', message: 'a DHCP packet could not be handled' },
  'leases-not-stored': { level: 'error', message: 'leases could not be stored, so they were not given' },
}

/** A hall of a thousand machines that powers on takes four lines each; a flood of invented ones gets no more. */
const mostLinesAMinute = 6_000
/** Of packets that were left unanswered; apart, so that those never push out the lines above. */
const mostIgnoredLinesAMinute = 600

function styleOf(event: DhcpEvent): LineStyle {
  if (event.type === 'offered') {
    // Machines that only want an address are told of when they have it.
    return { level: event.handOut === undefined ? 'debug' : 'info', message: 'DHCP offer sent' }
  }
  if (event.type !== 'acknowledged') return lines[event.type]
  if (event.role === 'boot-server') return { level: 'info', message: 'DHCP boot file told on port 4011' }
  const isLease = event.address !== undefined
  return { level: isLease ? 'info' : 'debug', message: isLease ? 'DHCP lease given' : 'DHCP options sent' }
}

/** What makes two lines say the same: of whom, and what about it. */
function keyOf(event: DhcpEvent): string {
  const who = 'mac' in event ? event.mac : 'interface' in event ? event.interface : ''
  const about =
    'target' in event
      ? `${event.target} ${event.address}`
      : 'reason' in event
        ? event.reason
        : 'problem' in event
          ? event.problem
          : ''
  return `${event.type} ${who} ${about}`
}

/**
 * Writes DHCP events to the log: one line a minute for the same machine and the same answer, because firmware asks four
 * times. What was left out is counted in the next line.
 */
export function createDhcpEventLog({
  log,
  clock,
}: {
  readonly log: Log
  readonly clock: Clock
}): (event: DhcpEvent) => void {
  const limiter = createLineLimiter({ clock, mostLines: mostLinesAMinute })
  const ignored = createLineLimiter({ clock, mostLines: mostIgnoredLinesAMinute })

  return function logDhcpEvent(event) {
    const { level, message } = styleOf(event)
    const suppressed = (event.type === 'ignored' ? ignored : limiter).admit(keyOf(event), level === 'error')
    if (suppressed === undefined) return
    const { type: _type, at: _at, ...fields } = 'question' in event ? withoutQuestion(event) : event
    log[level](suppressed === 0 ? fields : { ...fields, suppressed }, message)
  }
}

/** Its words say little to a person, and the offer says the rest. */
function withoutQuestion<E extends { readonly question?: unknown }>({ question: _, ...event }: E) {
  return event
}
