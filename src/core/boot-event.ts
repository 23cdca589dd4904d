import type { Arch } from './arch.ts'
import type { DecisionKind } from './boot-decision.ts'
import type { BootimageId } from './bootimage.ts'
import type { Firmware } from './client.ts'
import type { ReportState } from './fleet.ts'
import type { MacAddress } from './mac.ts'
import type { Reason, ReasonCode } from './reason.ts'
import type { Uuid } from './uuid.ts'

declare const bootIdBrand: unique symbol
/** Names one boot attempt; 22 URL-safe characters (128 random bits), minted by the answer that decides. */
export type BootId = string & { readonly [bootIdBrand]: true }

const bootIdPattern = /^[A-Za-z0-9_-]{22}$/

export function parseBootId(text: string): BootId | undefined {
  return bootIdPattern.test(text) ? (text as BootId) : undefined
}

/** One step of a boot, recorded once; log line, metric and page row are made from it. */
export type BootEvent =
  | {
      readonly type: 'decided'
      readonly at: number
      readonly bootId: BootId
      readonly kind: DecisionKind
      /** Of the reason that decided, which is the first of `reasons`. */
      readonly reason: ReasonCode
      /** As the script tells them (G10). */
      readonly reasons: readonly [Reason, ...Reason[]]
      readonly mac?: MacAddress
      readonly uuid?: Uuid
      readonly serial?: string
      /** What was decided for, else what the machine said. */
      readonly arch?: Arch
      readonly firmware?: Firmware
      readonly host?: string
      readonly address?: string
      readonly bootimage?: BootimageId
    }
  | {
      readonly type: 'artifact-sent'
      readonly at: number
      readonly bootId?: BootId
      readonly role: string
      readonly method: 'GET' | 'HEAD'
      readonly status: number
      readonly sentBytes: number
      readonly completed: boolean
      readonly address?: string
    }
  /** A boot client was told by DHCP how to go on. */
  | {
      readonly type: 'dhcp-answered'
      readonly at: number
      readonly mac?: MacAddress
      readonly host?: string
      /** As whom we spoke: beside the site's DHCP server, on port 4011, or as the DHCP server. */
      readonly role: 'proxy' | 'boot-server' | 'server'
      readonly message: 'offer' | 'acknowledge'
      /** What it was given; absent where the site's DHCP server does that. */
      readonly address?: string
      /** The file name or URL that it is to fetch. */
      readonly target?: string
      readonly decision?: DecisionKind
      readonly reason?: ReasonCode
    }
  /** A machine fetched its Ignition config with the token of its boot. */
  | {
      readonly type: 'ignition-sent'
      readonly at: number
      readonly bootId: BootId
      readonly host?: string
      readonly mac?: MacAddress
      readonly address: string
      /** What reads it: a system in RAM, one on a disk, or the live one that writes it there. */
      readonly system: 'live' | 'installed' | 'installer'
    }
  /** A machine said how it fares, and it is kept. */
  | {
      readonly type: 'reported'
      readonly at: number
      readonly bootId: BootId
      readonly host?: string
      readonly mac?: MacAddress
      readonly address?: string
      readonly status: ReportState
      readonly osVersion?: string
      readonly message?: string
      /** It said so before. */
      readonly isKnown: boolean
    }
  /** A TFTP transfer came to its end. */
  | {
      readonly type: 'tftp-ended'
      readonly at: number
      /** As far as DHCP has seen who has this address. */
      readonly mac?: MacAddress
      readonly address: string
      readonly file: string
      readonly isWhole: boolean
      readonly sentBytes: number
      readonly durationMs: number
    }
