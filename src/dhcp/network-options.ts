import { netmask, subnetBroadcast } from '../core/ipv4.ts'
import type { DhcpSubnet } from './dhcp-settings.ts'
import { optionCode } from './option-codes.ts'
import { type DhcpOption, ipv4Option, textOption, uint32Option } from './options.ts'

/**
 * What everybody in a subnet is told. Sent unasked: Raspberry Pi ROMs need mask and router without naming them, and
 * HTTP Boot firmware that forgets to ask for DNS cannot resolve names.
 */
export function networkOptions({
  subnet,
  routers,
  dnsServers,
  ntpServers,
  domain,
  extraOptions,
}: DhcpSubnet): readonly DhcpOption[] {
  const options = [ipv4Option(optionCode.subnetMask, netmask(subnet.prefix))]
  if (routers.length > 0) options.push(ipv4Option(optionCode.router, ...routers))
  if (dnsServers.length > 0) options.push(ipv4Option(optionCode.domainNameServer, ...dnsServers))
  if (domain !== undefined) options.push(textOption(optionCode.domainName, domain))
  options.push(ipv4Option(optionCode.broadcastAddress, subnetBroadcast(subnet)))
  if (ntpServers.length > 0) options.push(ipv4Option(optionCode.ntpServer, ...ntpServers))
  const written = new Set(extraOptions.map(({ code }) => code))
  return [...options.filter(({ code }) => !written.has(code)), ...extraOptions]
}

/** Lease time with renewal at one half and rebinding at seven eighths of it (RFC 2131 §4.4.5). */
export function leaseTimeOptions(leaseSeconds: number): readonly DhcpOption[] {
  return [
    uint32Option(optionCode.leaseTime, leaseSeconds),
    uint32Option(optionCode.renewalTime, Math.floor(leaseSeconds / 2)),
    uint32Option(optionCode.rebindingTime, Math.floor((leaseSeconds * 7) / 8)),
  ]
}
