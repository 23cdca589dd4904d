import type { Ipv4 } from '../core/ipv4.ts'
import type { Destination } from './destination.ts'

/** What leaves for one packet. */
export interface DhcpReply {
  readonly kind: 'offer' | 'acknowledge' | 'refuse'
  readonly bytes: Buffer
  readonly destination: Destination
  /** 0.0.0.0 in proxy answers. */
  readonly yiaddr: Ipv4
}

/** Why nothing leaves; one counter each. */
export const silenceReasons = [
  'packet-too-short',
  'packet-too-long',
  'packet-op-unknown',
  'packet-hardware-address-too-long',
  'packet-cookie-missing',
  'packet-option-truncated',
  'not-a-request',
  'message-type-missing',
  'message-type-not-for-servers',
  'client-unidentified',
  'not-a-boot-client',
  'architecture-unknown',
  'pxe-class-with-http-architecture',
  'not-pxe-by-name',
  'decision-ignore',
  'local-boot-silent',
  'loader-missing',
  'loader-unfit',
  'not-for-proxy',
  'boot-server-request-wrong-type',
  'boot-server-request-without-address',
  'reply-too-long',
  'interface-has-no-address',
  'packet-failed',
  'other-server-chosen',
  'subnet-unknown',
  'client-not-known',
  'pool-exhausted',
  'lease-unknown',
  'request-without-address',
  'declined',
  'released',
] as const
export type SilenceReason = (typeof silenceReasons)[number]

export interface Silence {
  readonly kind: 'silent'
  readonly reason: SilenceReason
}

export type DhcpAnswer = DhcpReply | Silence

export function silence(reason: SilenceReason): Silence {
  return { kind: 'silent', reason }
}
