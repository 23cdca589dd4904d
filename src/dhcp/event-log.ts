import type { Log } from '../core/log.ts'
import type { DhcpEvent } from './dhcp-event.ts'

interface LineStyle {
  readonly level: keyof Log
  readonly message: string
}

/** A booting rack is quiet; what needs a person says what to do. */
const lines: Readonly<Record<DhcpEvent['type'], LineStyle>> = {
  offered: { level: 'debug', message: 'DHCP offer sent' },
  acknowledged: { level: 'info', message: 'DHCP acknowledgement sent' },
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

/** `ignored` comes with every packet of every machine on the wire, so those lines are counted, not written. */
const quiet: ReadonlySet<DhcpEvent['type']> = new Set(['ignored'])

/** Writes DHCP events to the log. */
export function createDhcpEventLog({ log }: { readonly log: Log }): (event: DhcpEvent) => void {
  return function logDhcpEvent({ type, at: _at, ...fields }) {
    if (quiet.has(type)) return
    const { level, message } = lines[type]
    log[level](fields, message)
  }
}
