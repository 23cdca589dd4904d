import type { Arch } from '../../core/arch.ts'
import type { LoaderKind, LoaderPlatform, LoaderSigner } from '../../core/loader.ts'
import type { FleetOperations } from './fleet-operations.ts'

/** One part of the service and whether it can do its work. */
export interface PartReadiness {
  /** `boot-http`, `state`, `artifacts`, `config`, `stream:<name>` … */
  readonly part: string
  readonly ready: boolean
  /** Also set for parts that are ready but limp (upstream gone, cache good). */
  readonly reason?: string
}

export interface Readiness {
  readonly ready: boolean
  readonly parts: readonly PartReadiness[]
}

export interface BootimageSummary {
  readonly id: string
  readonly stream: string
  readonly arch: Arch
  readonly release: string
  readonly kind: 'live' | 'legacy-installer'
  /** Of `state/store.ts`; with bytes while it is being fetched. */
  readonly state: string
  readonly roles: readonly ('current' | 'previous' | 'target' | 'pinned' | 'leased' | 'held')[]
  readonly setDigest: string
  readonly sizeBytes?: number
  readonly doneBytes?: number
  readonly totalBytes?: number
  readonly bytesPerSecond?: number
  readonly failure?: { readonly code: string; readonly message: string; readonly at: string }
  readonly artifacts: readonly { readonly role: string; readonly name: string; readonly sha256: string }[]
}

export interface StreamArchSummary {
  readonly arch: Arch
  readonly current?: string
  readonly previous: readonly string[]
  readonly target?: { readonly release: string; readonly state: string; readonly failure?: string }
  readonly pending?: {
    readonly change: string
    readonly release?: string
    readonly policy: string
    readonly seen: number
    /** What it waits for, with the line of the configuration that decides. */
    readonly decides: string
  }
  /** What is current and not whole; `standIn` is the release that boots meanwhile, where there is one. */
  readonly damaged?: { readonly release: string; readonly text: string; readonly standIn?: string }
  readonly lastChange?: string
  readonly problem?: string
}

export interface StreamSummary {
  readonly name: string
  /** For people; without credentials. */
  readonly source: string
  readonly label?: string
  readonly lastModified?: string
  /** ISO 8601. */
  readonly lastSuccessAt?: string
  readonly lastAttemptAt?: string
  readonly failingSince?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly architectures: readonly StreamArchSummary[]
}

/** What a machine says, as an admin types it. */
export interface ExplainQuery {
  readonly mac?: string
  readonly uuid?: string
  readonly serial?: string
  /** Host id, instead of what the machine would say. */
  readonly host?: string
  readonly arch?: string
  readonly platform?: 'pcbios' | 'efi'
}

/**
 * What `render` can be asked for instead of the machine's own decision: `entry` is the script that firmware loads
 * first, the others are the machine's values as if that had been decided. Nothing is served by it.
 */
export const renderTemplates = ['entry', 'live', 'install', 'local', 'wait', 'hold'] as const
export type RenderTemplate = (typeof renderTemplates)[number]

/** Languages of loaders; only iPXE and GRUB load an entry script first. */
export const renderDialects = ['ipxe', 'grub', 'pxelinux'] as const
export type RenderDialect = (typeof renderDialects)[number]

export interface RenderQuery extends ExplainQuery {
  readonly dialect: RenderDialect
  /** Default: what the machine would get now. */
  readonly template?: RenderTemplate
  readonly baseUrl?: string
}

export interface Explanation {
  readonly decision: string
  readonly host?: string
  readonly arch?: string
  readonly release?: string
  readonly bootimage?: string
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
  /** Each effective value with the place it came from. */
  readonly values: readonly { readonly field: string; readonly value: string; readonly origin: string }[]
}

export interface SyncReport {
  readonly streams: readonly {
    readonly name: string
    readonly outcome: 'unchanged' | 'updated' | 'failed'
    /** Of `core/errors.ts`, when it failed. */
    readonly code?: string
    readonly message?: string
    /** What was not followed, and why. `refused`: its part of the document cannot be used. */
    readonly notes: readonly {
      readonly arch: Arch
      readonly kind: 'refused' | 'not-followed'
      readonly text: string
    }[]
    readonly bootimages: readonly {
      readonly id: string
      readonly state: string
      readonly failure?: string
      /** Of `core/errors.ts`, when it failed. */
      readonly code?: string
    }[]
  }[]
}

export interface VerifyReport {
  readonly checked: number
  readonly bytes: number
  readonly bad: readonly { readonly sha256: string; readonly reason: string }[]
}

export interface GcReport {
  readonly dryRun: boolean
  readonly removed: readonly { readonly sha256: string; readonly sizeBytes: number; readonly why: string }[]
  readonly freedBytes: number
  readonly kept: number
  /** Why nothing may be removed yet (just after a start). */
  readonly postponed?: string
}

export interface ImportReport {
  readonly format: string
  readonly stream: string
  readonly digest: string
  readonly releases: readonly { readonly arch: Arch; readonly release: string; readonly kind: string }[]
  readonly problems: readonly string[]
}

export interface LoaderSummary {
  /** Under which it is served; with `set`, below the name of that set. */
  readonly name: string
  readonly set?: string
  /** Where it was found. */
  readonly file: string
  /** The firmware that starts it; absent for parts of other loaders. */
  readonly platform?: LoaderPlatform
  readonly kind: LoaderKind
  readonly version?: string
  /** `http`, `https`, `vlan`; absent where nothing can be seen. */
  readonly features?: readonly string[]
  readonly sizeBytes: number
  readonly sha256: string
  readonly signer?: LoaderSigner
}

/** A stream that names a loader set, and whether the set starts its current kernel under Secure Boot. */
export interface LoaderSetStream {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
  readonly problem?: string
}

export interface LoadersReport {
  readonly loaders: readonly LoaderSummary[]
  readonly refused: readonly {
    readonly name: string
    readonly set?: string
    readonly file: string
    readonly reason: string
  }[]
  readonly missing: readonly {
    readonly name: string
    readonly platform: LoaderPlatform
    readonly remedy: string
  }[]
  readonly sets: readonly {
    readonly name: string
    readonly directory: string
    readonly architectures: readonly Arch[]
    readonly problems: readonly string[]
    readonly streams: readonly LoaderSetStream[]
  }[]
}

export interface ReloadReport {
  readonly changed: boolean
  /** Why it was not taken. */
  readonly error?: string
  /** Keys that count after a restart only. */
  readonly needsRestart?: readonly string[]
}

/**
 * Everything an admin can do or ask, whoever asks: API, control socket or a command that holds the data directory
 * itself. Implemented in `runtime/`.
 */
export interface AdminOperations {
  /** Hosts, groups, profiles, pins, installs, tokens: what admins and nodes say while the service runs. */
  readonly fleet: FleetOperations
  readiness(): Promise<Readiness>
  streams(): Promise<readonly StreamSummary[]>
  bootimages(filter: { stream?: string; arch?: Arch }): Promise<readonly BootimageSummary[]>
  loaders(): Promise<LoadersReport>
  /** @throws ServiceError USAGE for unreadable input, NOT_FOUND for an unknown host id */
  explain(query: ExplainQuery): Promise<Explanation>
  /** The script that machine would get now, with a boot id that nothing knows. */
  render(query: RenderQuery): Promise<string>
  /** Refreshes the named streams (default: all) and waits until what they want is fetched or has failed. */
  sync(request: { streams?: readonly string[] }): Promise<SyncReport>
  verify(): Promise<VerifyReport>
  gc(request: { dryRun: boolean }): Promise<GcReport>
  importDocument(request: { stream: string; name: string; text: string }): Promise<ImportReport>
  /** Reads the configuration again; a bad one changes nothing and is reported. */
  reload(): Promise<ReloadReport>
}
