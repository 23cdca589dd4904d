import { type Ipv4, type Ipv4Subnet, parseIpv4, parseIpv4Subnet } from '../core/ipv4.ts'
import type { DhcpConfig, DhcpSubnetConfig, TftpConfig } from './config.ts'
import { parseDuration } from './duration.ts'
import { type ListenAddress, parseListenAddress } from './listen-address.ts'
import {
  type Ipv4Range,
  parseIpv4Range,
  parseTftpPorts,
  type TftpPortsConfig,
} from './port-and-address-ranges.ts'
import type { RawConfig } from './schema.ts'

type RawDhcp = NonNullable<RawConfig['boot']['dhcp']>
type RawTftp = NonNullable<RawConfig['boot']['tftp']>

/** Texts have passed the schema, so that each of them can be read. */
export function buildDhcp(raw: RawDhcp): DhcpConfig {
  const interfaces = [...(raw.interface === undefined ? [] : [raw.interface]), ...raw.interfaces]
  return {
    mode: raw.mode === 'server' ? 'server' : 'proxy',
    interfaces: [...new Set(interfaces)],
    style: raw.style,
    isAuthoritative: raw.authoritative,
    subnets: raw.subnets.map(buildSubnet),
  }
}

function buildSubnet(raw: RawDhcp['subnets'][number]): DhcpSubnetConfig {
  const addresses = (texts: readonly string[]) => texts.map((text) => parseIpv4(text) as Ipv4)
  return {
    subnet: parseIpv4Subnet(raw.subnet) as Ipv4Subnet,
    ranges: raw.ranges.map((text) => parseIpv4Range(text) as Ipv4Range),
    leaseSeconds: Math.round((parseDuration(raw.leaseTime) as number) / 1000),
    routers: addresses(raw.routers),
    dnsServers: addresses(raw.dns),
    ntpServers: addresses(raw.ntp),
    ...(raw.domain === undefined ? {} : { domain: raw.domain }),
    options: raw.options,
    allow: raw.allow,
  }
}

export function buildTftp({ listen, ports, maxBlockSize }: RawTftp): TftpConfig {
  return {
    listen: parseListenAddress(listen) as ListenAddress,
    ports: parseTftpPorts(ports) as TftpPortsConfig,
    ...(maxBlockSize === undefined ? {} : { maxBlockSize }),
  }
}
