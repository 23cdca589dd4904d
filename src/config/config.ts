import type { SignaturePolicy } from '../artifacts/fetcher.ts'
import type { Arch } from '../core/arch.ts'
import type { ChangePolicies } from '../core/change.ts'
import type { ParseHints } from '../streams/metadata.ts'
import type { UpstreamOptions } from '../upstream/client.ts'
import type { BootAddress, ListenAddress } from './listen-address.ts'
import type { BaseUrl } from './web-url.ts'

/** The configuration as the rest of the house reads it: parsed, complete, with absolute paths. Machines are in the inventory. */
export interface Config {
  readonly dataDir: string
  readonly boot: BootConfig
  readonly admin: { readonly listen: ListenAddress }
  /** In the order in which they were written. */
  readonly streams: ReadonlyMap<string, StreamConfig>
  readonly templatesDirectory?: string
  readonly upstream: UpstreamOptions
  readonly log: {
    readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
    readonly format: 'auto' | 'text' | 'json'
  }
}

export interface BootConfig {
  /** Goes into every URL; absent: the address and port that were asked. */
  readonly address?: BootAddress
  readonly http: { readonly listen: ListenAddress; readonly ignoredMachines: 'script' | 'http-404' }
  readonly tftp?: { readonly listen: ListenAddress }
  /** Absent: off. */
  readonly dhcp?: {
    readonly mode: 'proxy' | 'server'
    readonly interface?: string
    readonly style: 'direct' | 'binl'
  }
  readonly loaders: { readonly directories: readonly string[] }
}

export interface StreamConfig {
  readonly name: string
  readonly source: SourceConfig
  readonly architectures: readonly Arch[]
  readonly refreshMs: number
  /** Previous bootimages kept for a rollback. */
  readonly keep: number
  readonly signatures: SignaturePolicy
  readonly keys: readonly TrustedKeyFile[]
  /** Asked for artifacts before the location in the metadata. */
  readonly mirrors: readonly BaseUrl[]
  readonly changes: ChangePolicies
}

export interface TrustedKeyFile {
  readonly path: string
  /** As read when the configuration was loaded: armored keys. */
  readonly text: string
}

export type SourceConfig = SourceLocation & {
  /** What documents of this source leave open. */
  readonly hints: ParseHints
  readonly releaseIndex?: string
  /** For the origin of `url` alone; also in `upstream.headers`. Holds secrets. */
  readonly headers: Readonly<Record<string, string>>
}

export type SourceLocation =
  /** `mirrors`: the same document elsewhere; `url` is the canonical place (G9). */
  | { readonly kind: 'url'; readonly url: string; readonly mirrors: readonly string[] }
  | { readonly kind: 'file'; readonly path: string }
  /** `<path>/<stream>.json` */
  | { readonly kind: 'directory'; readonly path: string; readonly stream: string }
  | {
      readonly kind: 'configMap'
      /** API server. */
      readonly server: BaseUrl
      readonly namespace: string
      readonly name: string
      /** Read for each request: tokens are renewed. */
      readonly tokenFile: string
      readonly caFile: string
    }
