import type { DecisionKind } from '../core/boot-decision.ts'
import type { BootClient } from '../core/client.ts'
import type { LocalBootMethod } from '../core/host.ts'
import type { Ipv4 } from '../core/ipv4.ts'
import type { ReasonCode } from '../core/reason.ts'

/**
 * How a proxy offer is made. `direct`: option 43 says "use the file in this packet"; boots nearly everything.
 * `binl`: no option 43, the client asks port 4011; for UEFI of 2014–2017 that drops direct offers (field case 4).
 */
export const proxyStyles = ['direct', 'binl'] as const
export type ProxyStyle = (typeof proxyStyles)[number]

/** What DHCP must know of the boot decision for one client, and of the host behind it. */
export interface DhcpAdvice {
  readonly kind: DecisionKind
  /** What decided; for the log. */
  readonly reason?: ReasonCode
  /** How it leaves network boot; for `local` and `hold`. */
  readonly method?: LocalBootMethod
  /** Id of the matched host. */
  readonly host?: string
  /** Loader binary by name, where host, profile or a chainload decision choose one. */
  readonly loader?: string
  readonly style?: ProxyStyle
  /** The address reserved for this host; server mode only. */
  readonly address?: Ipv4
  readonly hostName?: string
}

/** Asks the boot decision; from memory, without a trace. Also asked for clients that are no boot clients. */
export type DecideForDhcp = (client: BootClient) => DhcpAdvice
