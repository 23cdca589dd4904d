import type { Arch } from './arch.ts'
import type { BootId } from './boot-event.ts'
import type { BootimageId } from './bootimage.ts'
import type { BootMode } from './host.ts'
import type { MacAddress } from './mac.ts'

/**
 * What admins and nodes told a running service, as it is kept in the state store; what files say is not in here.
 * Times are ms since the epoch.
 */

/** Whose hand a change is: the name of a token, or the user behind the control socket. Never a secret. */
export interface Actor {
  /** `token ops-laptop`, `root (control socket)`, `boot <id>` for what a node's report changed. */
  readonly by: string
  readonly via: 'api' | 'control' | 'page' | 'report' | 'service'
}

export const recordKinds = ['host', 'group', 'profile'] as const
export type RecordKind = (typeof recordKinds)[number]

/** A host, group or profile that was made by API or command line instead of a file. */
export interface StoredRecord {
  readonly kind: RecordKind
  /** Id of the host, name of the group or profile. */
  readonly name: string
  /** As an admin writes it in YAML (`config/machine-schema.ts`), without its name; checked before it is kept. */
  readonly spec: Readonly<Record<string, unknown>>
  /** Raised by each change; the ETag. */
  readonly revision: number
  readonly createdAt: number
  readonly createdBy: string
  readonly changedAt: number
  readonly changedBy: string
}

export interface Target {
  readonly kind: 'host' | 'group'
  readonly name: string
}

interface Stamp {
  readonly target: Target
  /** Who set it and when. */
  readonly by: string
  readonly at: number
  readonly reason?: string
  /** From then on it does not count. */
  readonly until?: number
  /**
   * MACs of the host when it was set: what an admin said of a host whose record has gone stays with its MACs
   * (DESIGN §2).
   */
  readonly macs?: readonly MacAddress[]
}

/** Set at run time; of one target there is one pin for each architecture (or for all), and one mode. */
export type RunTimeSetting =
  | (Stamp & {
      readonly kind: 'pin'
      readonly release: string
      /** Default: the stream that the host follows. */
      readonly stream?: string
      /** Counts for machines of this architecture alone. */
      readonly arch?: Arch
    })
  | (Stamp & { readonly kind: 'mode'; readonly mode: Extract<BootMode, 'hold' | 'local' | 'live'> })

/** The key of a setting: setting it again replaces it. */
export function runTimeSettingId(
  setting: Pick<RunTimeSetting, 'kind' | 'target'> & { readonly arch?: Arch },
): string {
  const { kind, target, arch } = setting
  return `${kind}/${target.kind}/${target.name}${kind === 'pin' ? `/${arch ?? '*'}` : ''}`
}

export const installStates = ['armed', 'installed', 'disarmed', 'exhausted'] as const
export type InstallState = (typeof installStates)[number]

/**
 * Where the installing of a host stands; one for each host that was ever armed. A file arms by a higher
 * `install.generation`, an admin by a command.
 */
export interface InstallRecord {
  readonly host: string
  readonly source: 'file' | 'admin'
  readonly state: InstallState
  /** The number of this arming, told in reasons and reports; grows with each arming. */
  readonly generation: number
  /**
   * The highest `install.generation` that this record, or one before it, speaks for; a higher one is a new arming. An
   * admin's word speaks for the one in force when it was said. 0: none.
   */
  readonly fileGeneration: number
  /** Of an admin's arming; default: what the host's settings say. */
  readonly device?: string
  readonly armedAt: number
  readonly armedBy: string
  readonly reason?: string
  /** Install scripts that were handed out since it was armed. */
  readonly serves: number
  /** Limits: after so many scripts, or from this time on, it is exhausted. */
  readonly mostServes: number
  readonly until: number
  /** The last failure that a node reported meanwhile. */
  readonly failure?: { readonly at: number; readonly bootId: BootId; readonly message?: string }
  /** The last change of state: when, and by whom (`boot <id>` for a report). */
  readonly changedAt: number
  readonly changedBy: string
  /**
   * What its machine is recognised by (`machineMarks`): a disk that was written stays so when its host gets another
   * name. Absent in records of before there were marks, until their host is known.
   */
  readonly marks?: readonly string[]
}

export const reportStates = ['booted', 'installed', 'failed'] as const
export type ReportState = (typeof reportStates)[number]

/** What a node said of its own boot; one for each boot and state, the first one counts. */
export interface NodeReport {
  readonly bootId: BootId
  readonly status: ReportState
  readonly at: number
  readonly host?: string
  readonly mac?: MacAddress
  readonly address?: string
  readonly bootimage?: BootimageId
  readonly osVersion?: string
  /** SHA-256 of /proc/cmdline, 64 hex digits. */
  readonly kernelCommandLineSha256?: string
  readonly machineId?: string
  /** Why it failed. */
  readonly message?: string
}

/** A credential of the admin API; the secret itself is nowhere. */
export interface ApiTokenRecord {
  /** Public part: 12 URL-safe characters. */
  readonly id: string
  readonly name: string
  readonly role: ApiRole
  /** SHA-256 of the secret part, hex. */
  readonly hash: string
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt?: number
  readonly revokedAt?: number
}

export const apiRoles = ['read', 'write'] as const
export type ApiRole = (typeof apiRoles)[number]

/** Boot tokens of a host that were issued before this time do not count any more. */
export interface BootTokenRevocation {
  readonly host: string
  readonly before: number
}

export interface AuditEntry {
  /** Given by the store, growing; absent before it is kept. */
  readonly id?: number
  readonly at: number
  readonly by: string
  readonly via: Actor['via']
  /** `host.put`, `host.remove`, `pin.set`, `pin.remove`, `mode.set`, `mode.release`, `install.arm`, `install.done` … */
  readonly action: string
  /** `host/rack1-n01`, `group/edge`, `token/ops-laptop`. */
  readonly target: string
  /** One sentence for people; no secrets. */
  readonly summary: string
  readonly reason?: string
}

/** A machine that no record matches, with what it said last. */
export interface SeenMachine {
  readonly mac: MacAddress
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  readonly count: number
  readonly uuid?: string
  readonly serial?: string
  readonly arch?: Arch
  readonly firmware?: string
  readonly address?: string
  /** What it was told. */
  readonly decision?: string
}

/** One part of a change; a change is written whole or not at all, together with its audit entries. */
export type FleetChange =
  | { readonly put: 'record'; readonly record: StoredRecord }
  | { readonly remove: 'record'; readonly kind: RecordKind; readonly name: string }
  | { readonly put: 'setting'; readonly setting: RunTimeSetting }
  | { readonly remove: 'setting'; readonly id: string }
  | { readonly put: 'install'; readonly install: InstallRecord }
  | { readonly remove: 'install'; readonly host: string }
  | { readonly put: 'token'; readonly token: ApiTokenRecord }
  | { readonly remove: 'token'; readonly id: string }
  | { readonly put: 'revocation'; readonly revocation: BootTokenRevocation }
  | { readonly put: 'report'; readonly report: NodeReport }

/** All of it that snapshots in memory are made from. */
export interface FleetState {
  readonly records: readonly StoredRecord[]
  readonly settings: readonly RunTimeSetting[]
  readonly installs: readonly InstallRecord[]
  readonly tokens: readonly ApiTokenRecord[]
  readonly revocations: readonly BootTokenRevocation[]
}

export interface FleetWrite {
  readonly changes: readonly FleetChange[]
  readonly audit: readonly AuditEntry[]
}
