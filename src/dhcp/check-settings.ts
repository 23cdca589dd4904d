import { formatIpv4, formatIpv4Subnet, isInSubnet, isUnicastIpv4 } from '../core/ipv4.ts'
import type { AddressRange, DhcpSettings, DhcpSubnet } from './dhcp-settings.ts'
import { maxFileFieldLength } from './encode-reply.ts'
import type { LoaderFiles } from './loader-ladder.ts'

/** What is wrong or unwise in a configuration, in a sentence for its admin. */
export interface SettingsFinding {
  /** `error`: the service must not start like this. */
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Checks what the schema cannot: how values fit each other, and what firmware is known to do with them. */
export function checkDhcpSettings(settings: DhcpSettings, baseUrl: string): readonly SettingsFinding[] {
  const findings = [...checkLoaders(settings.loaders), ...checkBaseUrl(settings, baseUrl)]
  if (settings.mode === 'proxy') return [...findings, ...checkProxyLoaders(settings.loaders)]
  if (settings.subnets.length === 0) findings.push(error('server mode needs at least one subnet'))
  return [...findings, ...settings.subnets.flatMap(checkSubnet), ...checkOverlap(settings.subnets)]
}

function checkLoaders(loaders: LoaderFiles): SettingsFinding[] {
  const names = [...new Set(Object.values(loaders))]
  return names.flatMap((name) => {
    if (!/^[\x21-\x7e]+$/.test(name))
      return error(`loader "${name}": only printable ASCII without blanks can be named by DHCP`)
    if (name.length > maxFileFieldLength)
      return warning(
        `loader "${name}" is longer than ${maxFileFieldLength} bytes: it fits option 67 alone, which shim, GRUB, U-Boot and old ROMs do not read`,
      )
    return []
  })
}

/** Secure Boot loaders find their second stage by the server of the DHCP acknowledgement, which is not ours (31). */
function checkProxyLoaders(loaders: LoaderFiles): SettingsFinding[] {
  return Object.values(loaders)
    .filter((name) => /(?:^|\/)(?:shim|grub)/i.test(name))
    .map((name) =>
      warning(
        `loader "${name}" beside another DHCP server: shim and GRUB before 2.12 ask that server for their second stage; use iPXE, GRUB 2.12, or server mode`,
      ),
    )
}

/** HTTP Boot firmware may hand over no DNS server, so that names in URLs fail later (54). */
function checkBaseUrl(settings: DhcpSettings, baseUrl: string): SettingsFinding[] {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  if (/^[0-9.]+$/.test(host) || host.startsWith('[')) return []
  if (host === '') return [error(`"${baseUrl}" is no URL`)]
  if (settings.mode === 'proxy')
    return [
      warning(
        `the boot address is a name (${host}): firmware beside another DHCP server may not resolve it; use the IP address`,
      ),
    ]
  return settings.subnets
    .filter(({ dnsServers }) => dnsServers.length === 0)
    .map(({ subnet }) =>
      error(`the boot address is a name (${host}), but subnet ${formatIpv4Subnet(subnet)} has no DNS server`),
    )
}

function checkSubnet({ subnet, ranges, leaseSeconds, routers }: DhcpSubnet): SettingsFinding[] {
  const text = formatIpv4Subnet(subnet)
  const findings: SettingsFinding[] = []
  if (!isUnicastIpv4(subnet.network))
    findings.push(error(`subnet ${text} is not one that machines can be in`))
  if (leaseSeconds < 120 || leaseSeconds > 0x7fffffff)
    findings.push(error(`subnet ${text}: a lease lasts from 2 minutes to 68 years`))
  if (routers.some((router) => !isInSubnet(router, subnet)))
    findings.push(error(`subnet ${text}: a router must be in it`))
  for (const range of ranges) {
    if (range.last < range.first)
      findings.push(error(`subnet ${text}: range ${rangeText(range)} is the wrong way round`))
    else if (!isInSubnet(range.first, subnet) || !isInSubnet(range.last, subnet))
      findings.push(error(`subnet ${text}: range ${rangeText(range)} is not in it`))
  }
  const sorted = [...ranges].sort((a, b) => a.first - b.first)
  for (const [index, range] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && next.first <= range.last)
      findings.push(error(`subnet ${text}: ranges ${rangeText(range)} and ${rangeText(next)} overlap`))
  }
  return findings
}

function checkOverlap(subnets: readonly DhcpSubnet[]): SettingsFinding[] {
  return subnets.flatMap(({ subnet: a }, index) =>
    subnets
      .slice(index + 1)
      .filter(({ subnet: b }) => isInSubnet(b.network, a) || isInSubnet(a.network, b))
      .map(({ subnet: b }) => error(`subnets ${formatIpv4Subnet(a)} and ${formatIpv4Subnet(b)} overlap`)),
  )
}

function rangeText({ first, last }: AddressRange): string {
  return `${formatIpv4(first)}-${formatIpv4(last)}`
}

function error(message: string): SettingsFinding {
  return { severity: 'error', message }
}

function warning(message: string): SettingsFinding {
  return { severity: 'warning', message }
}
