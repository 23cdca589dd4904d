import type { Arch } from './arch.ts'
import type { Sha256 } from './digest.ts'
import type { InstallRecord } from './fleet.ts'
import type { GroupIndex } from './group-index.ts'
import type { Ipv4 } from './ipv4.ts'
import type { MacAddress } from './mac.ts'
import type { RunTimeIndex } from './run-time-settings.ts'
import type { Uuid } from './uuid.ts'

export const bootModes = ['live', 'install', 'local', 'hold'] as const
export type BootMode = (typeof bootModes)[number]

/** How a machine leaves network boot; firmware differs in what it understands (field case 122). */
export const localBootMethods = ['exit', 'exit 1', 'sanboot', 'http-404', 'dhcp-silent'] as const
export type LocalBootMethod = (typeof localBootMethods)[number]

/** Where a value was written down. */
export interface Origin {
  readonly kind: 'one-shot' | 'host' | 'group' | 'profile' | 'default'
  /** Id of the host, group or profile; empty for defaults. */
  readonly name: string
  readonly file?: string
  readonly line?: number
  /** Who set it, when (ms since the epoch) and why, for values set at run time. */
  readonly by?: string
  readonly at?: number
  readonly why?: string
}

export interface Pin {
  readonly release: string
  /** Counts for machines of this architecture alone. */
  readonly arch?: Arch
  /** Takes the place of the stream that the machine follows, for as long as the pin is in force. */
  readonly stream?: string
  readonly reason?: string
  /** Ms since the epoch; from then on the pin does not count. */
  readonly until?: number
}

/** An Ignition config: an admin's own URL, or a file or text that we serve. */
export interface IgnitionSource {
  readonly url?: string
  /** Absolute path. */
  readonly file?: string
  readonly inline?: string
  /** Whether Liquid is read in a file or text; default: it is. */
  readonly template?: boolean
}

export interface InstallSettings {
  /** `/dev/sda`; the legacy installer gets it without `/dev/`. */
  readonly device?: string
  /** An install runs once per generation. */
  readonly generation?: number
}

/** An admin's own cpio, such as `coreos-installer pxe ignition wrap` makes. */
export interface ExtraInitrd {
  readonly path: string
  readonly sha256: Sha256
}

/** What host, group, profile and defaults may each say; resolved field by field, the most specific wins. */
export interface BootSettings {
  readonly stream?: string
  readonly mode?: BootMode
  /** One for each architecture, or one for all, or both: an architecture's own stands before the other. */
  readonly pins?: readonly Pin[]
  readonly kernelArguments?: readonly string[]
  readonly ignition?: IgnitionSource
  /** Whether the machine reports how it fares; absent: where we serve its Ignition config anyway. */
  readonly report?: boolean
  readonly install?: InstallSettings
  readonly localBoot?: LocalBootMethod
  /** Why a `hold` is there; shown on the machine's console. */
  readonly holdReason?: string
  /** Ignition platform id; default `metal`. */
  readonly platformId?: string
  /** `url`: `coreos.live.rootfs_url` (default). `initrd`: rootfs as a second initrd, needs twice the memory. */
  readonly rootfs?: 'url' | 'initrd'
  readonly extraInitrds?: readonly ExtraInitrd[]
  /** Loader binary by name; used by DHCP and TFTP. */
  readonly loader?: string
  /** Start with the shim of its stream's loader set: no firmware tells that Secure Boot is on (field case 125). */
  readonly secureBoot?: boolean
  /** How a proxy names the boot file for it (field case 4). */
  readonly dhcpStyle?: 'direct' | 'binl'
}

export interface Host extends BootSettings {
  readonly id: string
  readonly macs: readonly MacAddress[]
  readonly uuid?: Uuid
  readonly serial?: string
  /** Stands above what the machine says of itself. */
  readonly arch?: Arch
  /** Reserved for it where we are the DHCP server. */
  readonly address?: Ipv4
  readonly hostName?: string
  readonly labels: Readonly<Record<string, string>>
  readonly profile?: string
  readonly origin: Origin
}

export interface Group extends BootSettings {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly profile?: string
  readonly origin: Origin
}

export interface Profile extends BootSettings {
  readonly name: string
  readonly origin: Origin
}

export type UnknownPolicy =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'profile'; readonly profile: string }

/**
 * Everything admins have said about machines, indexed for the boot path. A change yields another object; the maps in it
 * may be those of the one before, so whoever waits asks for it anew.
 */
export interface Inventory {
  readonly hostsById: ReadonlyMap<string, Host>
  readonly hostsByMac: ReadonlyMap<MacAddress, Host>
  /** Holds each UUID in both byte orders. */
  readonly hostsByUuid: ReadonlyMap<Uuid, Host>
  readonly hostsBySerial: ReadonlyMap<string, Host>
  /** Reserved where we are the DHCP server. */
  readonly hostsByAddress: ReadonlyMap<Ipv4, Host>
  /** Ids of hosts whose own record pins. */
  readonly pinnedHosts: ReadonlySet<string>
  /** Sorted by precedence: more selectors first, then name. */
  readonly groups: readonly Group[]
  readonly groupIndex: GroupIndex
  readonly profiles: ReadonlyMap<string, Profile>
  readonly unknown: UnknownPolicy
  readonly runTime: RunTimeIndex
  /** By host id. */
  readonly installs: ReadonlyMap<string, InstallRecord>
  /** By what machines are recognised by, whatever the name of their host was. */
  readonly installsByMark: ReadonlyMap<string, readonly InstallRecord[]>
  /** The next moment (ms since the epoch) from which something of it does not count any more; `Infinity`: none. */
  nextEnd(now: number): number
}

export interface InventoryParts {
  readonly hosts: readonly Host[]
  readonly groups: readonly Group[]
  readonly profiles: readonly Profile[]
  readonly unknown: UnknownPolicy
}
