import type { DecisionKind } from '../core/boot-decision.ts'
import type { DhcpQuestion } from '../core/boot-event.ts'
import type { MacAddress } from '../core/mac.ts'
import type { ReasonCode } from '../core/reason.ts'
import type { SilenceReason } from './answer.ts'
import type { Platform } from './client-architecture.ts'
import type { Datagram } from './exchange.ts'
import type { RefuseReason } from './leases/lease-answer.ts'
import type { HandOut } from './loader-ladder.ts'

interface EventBase {
  /** Ms since the epoch. */
  readonly at: number
  readonly interface: string
}

interface ClientEvent extends EventBase {
  readonly mac: MacAddress | undefined
}

/** What happened in DHCP, once each; log lines, metrics and timelines are made from it. Addresses are dotted quads. */
export type DhcpEvent =
  | (ClientEvent & {
      readonly type: 'offered' | 'acknowledged'
      readonly role: 'proxy' | 'boot-server' | 'server'
      /** Absent in proxy answers and for INFORM. */
      readonly address: string | undefined
      /** What a boot client asked; absent for machines that only want an address, as what follows is. */
      readonly question?: DhcpQuestion
      /** How it goes on. */
      readonly platform: Platform | undefined
      readonly handOut: HandOut['kind'] | undefined
      /** The file name or URL that was handed out. */
      readonly target: string | undefined
      /** Id of the host, and what was decided for it and why. */
      readonly host: string | undefined
      readonly decision: DecisionKind | undefined
      readonly reason: ReasonCode | undefined
    })
  | (ClientEvent & { readonly type: 'refused'; readonly reason: RefuseReason })
  | (ClientEvent & {
      readonly type: 'ignored'
      readonly reason: SilenceReason
      readonly port: Datagram['port']
      /** What a boot client asked; absent for everybody else, as what follows is. */
      readonly question?: DhcpQuestion
      /** In a REQUEST: the server that it chose. */
      readonly chosen?: string
      /** In a REQUEST: the address that it takes. */
      readonly address?: string
    })
  /** A whole run of offers without a follow-up; hint: put the boot options into the site's own DHCP server. */
  | (ClientEvent & { readonly type: 'offers-unanswered' })
  /** The same stage in boot after boot; the file that was handed out does not start, or does not come back as itself. */
  | (ClientEvent & { readonly type: 'loop-suspected'; readonly handOut: HandOut['kind'] })
  /** Options 60 and 93 contradict each other. */
  | (ClientEvent & { readonly type: 'client-contradicts-itself'; readonly mismatch: string })
  | (ClientEvent & { readonly type: 'declined' | 'released'; readonly address: string })
  /** Its host record reserves an address that somebody else holds. */
  | (ClientEvent & { readonly type: 'reservation-unavailable'; readonly address: string })
  | (ClientEvent & { readonly type: 'pool-exhausted' | 'pool-available'; readonly subnet: string })
  | (EventBase & { readonly type: 'interface-ready'; readonly address: string })
  | (EventBase & { readonly type: 'interface-not-ready'; readonly problem: string })
  | (EventBase & { readonly type: 'send-failed'; readonly problem: string })
  /** A mistake of ours; the packet as hex tells how to make it again. */
  | (EventBase & { readonly type: 'packet-failed'; readonly problem: string; readonly packet: string })
  | {
      readonly type: 'leases-not-stored'
      readonly at: number
      readonly problem: string
      readonly changes: number
    }
