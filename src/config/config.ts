import type { SignaturePolicy } from '../artifacts/fetcher.ts'
import type { Arch } from '../core/arch.ts'
import type { ChangePolicies } from '../core/change.ts'
import type { Ipv4, Ipv4Subnet } from '../core/ipv4.ts'
import type { Webhook } from '../core/webhook.ts'
import type { ParseHints } from '../streams/metadata.ts'
import type { UpstreamOptions } from '../upstream/client.ts'
import type { BootAddress, ListenAddress } from './listen-address.ts'
import type { Ipv4Range, TftpPortsConfig } from './port-and-address-ranges.ts'
import type { BaseUrl } from './web-url.ts'

/** The configuration as the rest of the house reads it: parsed, complete, with absolute paths. Machines are in the inventory. */
export interface Config {
  readonly dataDir: string
  readonly boot: BootConfig
  readonly admin: AdminConfig
  /** In the order in which they were written. */
  readonly streams: ReadonlyMap<string, StreamConfig>
  readonly templatesDirectory?: string
  readonly upstream: UpstreamOptions
  readonly webhooks: readonly Webhook[]
  readonly retention: RetentionConfig
  /** Absent: no packets are kept. */
  readonly capture?: { readonly memoryBytes: number }
  readonly log: {
    readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
    readonly format: 'auto' | 'text' | 'json'
  }
}

export interface AdminConfig {
  readonly listen: ListenAddress
  /** Absent: plain HTTP. */
  readonly tls?: AdminTlsConfig
  /** Addresses and networks. */
  readonly trustedProxies: readonly string[]
}

/** As read when the configuration was loaded: PEM. */
export interface AdminTlsConfig {
  readonly certificate: string
  readonly key: string
  readonly clientAuthority?: string
}

export interface BootConfig {
  /** Goes into every URL; absent: the address and port that were asked. */
  readonly address?: BootAddress
  readonly http: { readonly listen: ListenAddress; readonly ignoredMachines: 'script' | 'http-404' }
  /** Absent: off. */
  readonly tftp?: TftpConfig
  /** Absent: off. */
  readonly dhcp?: DhcpConfig
  readonly loaders: {
    /** Of the admin; those of packages come after them. */
    readonly directories: readonly string[]
    /** Directories of the Secure Boot sets, by name. */
    readonly sets: ReadonlyMap<string, string>
  }
  readonly tokens: BootTokensConfig
}

/** How long history is kept. */
export interface RetentionConfig {
  readonly auditMs: number
  readonly reportsMs: number
  readonly bootsMs: number
  readonly seenMs: number
}

/** Of the tokens in the URLs that scripts and Ignition configs carry. */
export interface BootTokensConfig {
  readonly lifeMs: number
  readonly reportLifeMs: number
  readonly bind: 'none' | 'address'
}

export interface TftpConfig {
  readonly listen: ListenAddress
  readonly ports: TftpPortsConfig
  readonly maxBlockSize?: number
}

export interface DhcpConfig {
  readonly mode: 'proxy' | 'server'
  readonly interfaces: readonly string[]
  readonly style: 'direct' | 'binl'
  readonly isAuthoritative: boolean
  readonly subnets: readonly DhcpSubnetConfig[]
}

export interface DhcpSubnetConfig {
  readonly subnet: Ipv4Subnet
  readonly ranges: readonly Ipv4Range[]
  readonly leaseSeconds: number
  readonly routers: readonly Ipv4[]
  readonly dnsServers: readonly Ipv4[]
  readonly ntpServers: readonly Ipv4[]
  readonly domain?: string
  readonly options: readonly {
    readonly code: number
    readonly type: 'text' | 'addresses' | 'byte' | 'uint16' | 'uint32' | 'hex'
    readonly value: string
  }[]
  readonly allow: 'any' | 'known'
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
  /** The set of `boot.loaders.sets` that starts its kernels under Secure Boot. */
  readonly loaderSet?: string
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
