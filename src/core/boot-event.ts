import type { Arch } from './arch.ts'
import type { DecisionKind } from './boot-decision.ts'
import type { BootPatternCode } from './boot-pattern.ts'
import type { BootimageId } from './bootimage.ts'
import type { Firmware, Loader } from './client.ts'
import type { ReportState } from './fleet.ts'
import type { MacAddress } from './mac.ts'
import type { Reason, ReasonCode } from './reason.ts'
import type { TokenRefusal } from './token-refusal.ts'
import type { Uuid } from './uuid.ts'

declare const bootIdBrand: unique symbol
/** Names one boot attempt; 22 URL-safe characters (128 random bits), minted by the answer that decides. */
export type BootId = string & { readonly [bootIdBrand]: true }

const bootIdPattern = /^[A-Za-z0-9_-]{22}$/

export function parseBootId(text: string): BootId | undefined {
  return bootIdPattern.test(text) ? (text as BootId) : undefined
}

/** 32 lower-case hex digits: the trace id of a W3C trace context that came with a request. */
export type TraceId = string

/** What a file that TFTP serves is to a boot. */
export type TftpFileRole = 'loader' | 'script' | 'artifact' | 'other'

/** What a boot client asked DHCP. */
export interface DhcpQuestion {
  readonly message: 'discover' | 'request' | 'inform'
  /** Who asks: the firmware, an iPXE, or another loader. */
  readonly stage: 'firmware' | 'ipxe' | 'other'
  readonly arch?: Arch
  readonly firmware?: Firmware
  /** By which protocol it wants its file: class PXEClient or HTTPClient. */
  readonly via: 'tftp' | 'http'
  /** Transaction id; the same one in all packets of one run. */
  readonly xid: number
  /** Since it began to ask, as it says. */
  readonly seconds: number
  /** Type of boot server that it asks for on 4011 (option 43, sub-option 71); 0: the bootstrap server. */
  readonly bootServerType?: number
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
      /** What reads the script. */
      readonly loader?: Loader
      /** What its script makes the machine do after the files, so that its absence means something. */
      readonly expects?: readonly ('ignition' | 'report')[]
      /** Roles of the files that its script makes the machine fetch: one without a rootfs is not waited for. */
      readonly files?: readonly string[]
      readonly trace?: TraceId
    }
  | {
      readonly type: 'artifact-sent'
      readonly at: number
      readonly bootId?: BootId
      /** `kernel`, `initramfs`, `rootfs`, `disk`, `loader` … */
      readonly role: string
      /** Last part of its path, as we spell it. */
      readonly name?: string
      readonly method: 'GET' | 'HEAD'
      readonly status: number
      /** Place in the file of the first byte that was sent; absent: its start. */
      readonly fromBytes?: number
      readonly sentBytes: number
      /** Of the whole file. */
      readonly totalBytes?: number
      readonly durationMs?: number
      /** Of a loader: what it runs on, where its bytes say so. */
      readonly loaderArch?: Arch
      readonly completed: boolean
      readonly address?: string
      readonly trace?: TraceId
    }
  /** Bytes of a file begin to flow, or flow on: told at the start and then at most once a second for each transfer. */
  | {
      readonly type: 'artifact-progress'
      readonly at: number
      readonly bootId?: BootId
      readonly role: string
      readonly name?: string
      readonly loaderArch?: Arch
      /** Place in the file that was reached; 0 at the start, unless a Range asked for less. */
      readonly reachedBytes: number
      readonly totalBytes: number
      readonly address?: string
    }
  /** A loader fetched the first script, which finds out who asks; by HTTP or TFTP. */
  | {
      readonly type: 'entry-sent'
      readonly at: number
      /** `boot.ipxe`, `grub.cfg` … */
      readonly name: string
      readonly address: string
      readonly mac?: MacAddress
    }
  /** A token of a boot did not count. */
  | {
      readonly type: 'token-refused'
      readonly at: number
      readonly address: string
      readonly purpose: 'ignition' | 'report'
      readonly refusal: TokenRefusal
      /** Only where the token itself was genuine. */
      readonly bootId?: BootId
    }
  /**
   * One packet of a boot client and the answer to it: one event for DISCOVER and OFFER, one for REQUEST or INFORM and
   * ACK, on 67 or 4011.
   */
  | {
      readonly type: 'dhcp-answered'
      readonly at: number
      readonly mac?: MacAddress
      readonly host?: string
      /** As whom we spoke: beside the site's DHCP server, on port 4011, or as the DHCP server. */
      readonly role: 'proxy' | 'boot-server' | 'server'
      readonly message: 'offer' | 'acknowledge'
      readonly asked?: DhcpQuestion
      /** What it was given; absent where the site's DHCP server does that. */
      readonly address?: string
      /** The file name or URL that it is to fetch. */
      readonly target?: string
      readonly decision?: DecisionKind
      readonly reason?: ReasonCode
    }
  /** A packet of a boot client that was left without an answer, and why: most are normal (it chose another server). */
  | {
      readonly type: 'dhcp-unanswered'
      readonly at: number
      readonly mac: MacAddress
      readonly port: 67 | 4011
      readonly reason: string
      readonly asked: DhcpQuestion
      /** In a REQUEST: the server that it chose, which is not ours. */
      readonly chosen?: string
      /** In a REQUEST: the address that it takes. */
      readonly address?: string
    }
  /** What DHCP noticed over several packets. */
  | {
      readonly type: 'dhcp-troubled'
      readonly at: number
      readonly mac: MacAddress
      readonly trouble: 'offers-unanswered' | 'loop-suspected' | 'client-contradicts-itself'
      readonly detail?: string
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
  /** A TFTP transfer began; one that only looks at the size (field case 60) is none. */
  | {
      readonly type: 'tftp-started'
      readonly at: number
      readonly mac?: MacAddress
      readonly address: string
      readonly file: string
    }
  /** A TFTP transfer came to its end. */
  | {
      readonly type: 'tftp-ended'
      readonly at: number
      /** As far as DHCP has seen who has this address. */
      readonly mac?: MacAddress
      readonly address: string
      readonly file: string
      readonly role?: TftpFileRole
      readonly loaderArch?: Arch
      readonly isWhole: boolean
      readonly sentBytes: number
      /** Of the whole file. */
      readonly totalBytes?: number
      readonly durationMs: number
      /** The client's own words, printable and bounded, where it gave up with an ERROR. */
      readonly clientError?: string
    }
  /** The timeline itself saw that this boot does not go on; stays among its steps when it does after all. */
  | {
      readonly type: 'diagnosed'
      readonly at: number
      readonly code: BootPatternCode
      readonly text: string
    }
  /** A TFTP request was answered with an ERROR. */
  | {
      readonly type: 'tftp-refused'
      readonly at: number
      readonly mac?: MacAddress
      readonly address: string
      /** Printable and bounded. */
      readonly file: string
      readonly reason: string
    }
