import type { Ipv4, Ipv4Subnet } from '../core/ipv4.ts'
import type { ProxyStyle } from './dhcp-advice.ts'
import type { LoaderFiles } from './loader-ladder.ts'
import type { DhcpOption } from './options.ts'

export interface AddressRange {
  readonly first: Ipv4
  /** Inclusive. */
  readonly last: Ipv4
}

/** One subnet that we own: directly attached, or behind relays. */
export interface DhcpSubnet {
  readonly subnet: Ipv4Subnet
  readonly ranges: readonly AddressRange[]
  readonly leaseSeconds: number
  readonly routers: readonly Ipv4[]
  readonly dnsServers: readonly Ipv4[]
  readonly ntpServers: readonly Ipv4[]
  readonly domain?: string
  /** Options by number, sent to everybody; see `parseExtraOption`. */
  readonly extraOptions: readonly DhcpOption[]
  /** `known`: addresses from the ranges go to machines that a host record names, to nobody else. */
  readonly allow: 'any' | 'known'
}

/** Beside the site's DHCP server: boot answers, never an address. */
export interface ProxyDhcpSettings {
  readonly mode: 'proxy'
  readonly style: ProxyStyle
  readonly loaders: LoaderFiles
}

/** The DHCP server of its subnets. */
export interface ServerDhcpSettings {
  readonly mode: 'server'
  /** How port 4011 answers; offers from port 67 need no style here. */
  readonly style: ProxyStyle
  readonly loaders: LoaderFiles
  readonly subnets: readonly DhcpSubnet[]
  /** Whether we may refuse addresses that we know nothing of, because no other server is on these subnets. */
  readonly isAuthoritative: boolean
}

export type DhcpSettings = ProxyDhcpSettings | ServerDhcpSettings
