import type { DhcpEvent } from './dhcp-event.ts'

/** Events that somebody may have to look at; one counter each. */
export const troubles = [
  'offers-unanswered',
  'loop-suspected',
  'client-contradicts-itself',
  'declined',
  'reservation-unavailable',
  'pool-exhausted',
  'interface-not-ready',
  'send-failed',
  'packet-failed',
  'leases-not-stored',
] as const satisfies readonly DhcpEvent['type'][]
export type Trouble = (typeof troubles)[number]

export interface TroubleTally {
  note(event: DhcpEvent): void
  counts(): Readonly<Record<Trouble, number>>
}

/** Counts the events of DHCP that an alert may hang on. */
export function createTroubleTally(): TroubleTally {
  const counts = Object.fromEntries(troubles.map((trouble) => [trouble, 0])) as Record<Trouble, number>
  const known: ReadonlySet<string> = new Set(troubles)
  return {
    note({ type }) {
      if (known.has(type)) counts[type as Trouble]++
    },
    counts: () => ({ ...counts }),
  }
}
