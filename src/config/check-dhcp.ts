import { isIP } from 'node:net'
import { encodeExtraOption } from '../core/extra-dhcp-option.ts'
import {
  type Ipv4Subnet,
  isInSubnet,
  isLoopbackIpv4,
  isUnicastIpv4,
  parseIpv4,
  parseIpv4Subnet,
} from '../core/ipv4.ts'
import type { ConfigPath } from './config-path.ts'
import { parseDuration } from './duration.ts'
import type { Reporter } from './layered-data.ts'
import { isLoopback, parseBootAddress, parseListenAddress } from './listen-address.ts'
import { type Ipv4Range, parseIpv4Range } from './port-and-address-ranges.ts'
import type { RawConfig } from './schema.ts'

type RawDhcp = NonNullable<RawConfig['boot']['dhcp']>
type RawSubnet = RawDhcp['subnets'][number]

const at: ConfigPath = ['boot', 'dhcp']
/** Beyond it option 51 would be "for ever" to some clients (RFC 2131 §3.3). */
const longestLeaseMs = 0x7fffffff * 1000
const shortestLeaseMs = 2 * 60 * 1000

/** DHCP and TFTP: how their values fit each other, and what firmware is known to do with them. */
export function checkDhcp(raw: RawConfig, report: Reporter): void {
  const { dhcp, tftp } = raw.boot
  if (tftp !== undefined) checkTftp(tftp.listen, report)
  if (dhcp === undefined || dhcp.mode === 'off') return
  checkBootName(raw, report)
  checkReach(raw, report)
  if (tftp === undefined) {
    report.warn(
      at,
      'without boot.tftp only UEFI HTTP Boot and iPXE find a loader',
      'add tftp: {} below boot, unless all machines are of these kinds',
      'key',
    )
  }
  if (dhcp.interface === undefined && dhcp.interfaces.length === 0) {
    report.warn(
      at,
      'names no interface, so it answers only on sockets that a service manager hands over',
      'write interface: NAME, unless a socket unit opens them',
      'key',
    )
  }
  if (dhcp.mode === 'proxy') checkProxy(dhcp, report)
  else checkServer(dhcp, report)
}

/** The subnets whose addresses we give; `undefined` where somebody else gives them. */
export function ownSubnets({ boot: { dhcp } }: RawConfig): readonly Ipv4Subnet[] | undefined {
  if (dhcp?.mode !== 'server') return undefined
  return dhcp.subnets.map(({ subnet }) => parseIpv4Subnet(subnet)).filter((subnet) => subnet !== undefined)
}

function checkTftp(text: string, report: Reporter): void {
  const listen = parseListenAddress(text)
  if (listen === undefined) return
  const path = ['boot', 'tftp', 'listen']
  if (isLoopback(listen)) report.warn(path, 'only this machine can reach it, so no node finds a loader')
  if (listen.port !== 69)
    report.warn(path, `firmware asks for loaders at port 69 alone, and this is port ${listen.port}`)
}

/** DHCP sends machines to the boot listener, so they must be able to get there. */
function checkReach({ boot }: RawConfig, report: Reporter): void {
  const listen = parseListenAddress(boot.http.listen)
  if (listen === undefined || !isLoopback(listen)) return
  report.warn(['boot', 'http', 'listen'], 'only this machine can reach it, and boot.dhcp sends others here')
}

function checkProxy({ subnets, authoritative }: RawDhcp, report: Reporter): void {
  if (subnets.length > 0) {
    report.warn([...at, 'subnets'], 'a proxy gives no addresses, so its subnets do nothing', undefined, 'key')
  }
  if (authoritative) {
    report.warn(
      [...at, 'authoritative'],
      'a proxy refuses no address, so this does nothing; it is for mode server',
      undefined,
      'key',
    )
  }
}

function checkServer({ subnets }: RawDhcp, report: Reporter): void {
  if (subnets.length === 0) {
    report.problem(
      at,
      'mode server needs subnets; allowed: a list of { subnet, ranges, … }',
      'for example subnets: [{ subnet: 192.0.2.0/24, ranges: [192.0.2.100-192.0.2.199], routers: [192.0.2.1] }]',
      'key',
    )
  }
  subnets.forEach((entry, index) => {
    const subnet = parseIpv4Subnet(entry.subnet)
    const path: ConfigPath = [...at, 'subnets', index]
    if (subnet === undefined) return
    checkSubnet(entry, subnet, path, report)
    const other = subnets.slice(0, index).find((earlier) => overlap(parseIpv4Subnet(earlier.subnet), subnet))
    if (other === undefined) return
    report.problem([...path, 'subnet'], `${entry.subnet} and ${other.subnet} overlap`)
  })
}

function checkSubnet(entry: RawSubnet, subnet: Ipv4Subnet, path: ConfigPath, report: Reporter): void {
  if (isLoopbackIpv4(subnet.network)) {
    // Of use to whoever tries things out on one machine.
    report.warn([...path, 'subnet'], `${entry.subnet} is loopback: no machine but this one is in it`)
  } else if (!isUnicastIpv4(subnet.network)) {
    report.problem([...path, 'subnet'], `${entry.subnet} is not one that machines can be in`)
  }
  const leaseMs = parseDuration(entry.leaseTime) ?? 0
  if (leaseMs < shortestLeaseMs || leaseMs > longestLeaseMs) {
    report.problem(
      [...path, 'leaseTime'],
      `found ${JSON.stringify(entry.leaseTime)}, allowed: from 2m; a boot takes longer than less`,
    )
  }
  entry.routers.forEach((text, index) => {
    const router = parseIpv4(text)
    if (router !== undefined && !isInSubnet(router, subnet)) {
      report.problem([...path, 'routers', index], `${text} is not inside ${entry.subnet}`)
    }
  })
  checkRanges(entry, subnet, path, report)
  checkOptions(entry, path, report)
}

function checkRanges(entry: RawSubnet, subnet: Ipv4Subnet, path: ConfigPath, report: Reporter): void {
  const earlier: { readonly text: string; readonly range: Ipv4Range }[] = []
  entry.ranges.forEach((text, index) => {
    const range = parseIpv4Range(text)
    if (range === undefined) return
    const where: ConfigPath = [...path, 'ranges', index]
    if (!isInSubnet(range.first, subnet) || !isInSubnet(range.last, subnet)) {
      report.problem(where, `${text} is not inside ${entry.subnet}`)
    }
    const other = earlier.find(({ range: { first, last } }) => first <= range.last && range.first <= last)
    if (other !== undefined) report.problem(where, `${text} and ${other.text} overlap`)
    earlier.push({ text, range })
  })
}

function checkOptions(entry: RawSubnet, path: ConfigPath, report: Reporter): void {
  const codes = new Set<number>()
  entry.options.forEach((option, index) => {
    const where: ConfigPath = [...path, 'options', index]
    const encoded = encodeExtraOption(option)
    if (encoded.bytes === undefined) report.problem([...where, encoded.field], encoded.problem)
    if (codes.has(option.code)) report.problem([...where, 'code'], `option ${option.code} is there twice`)
    codes.add(option.code)
  })
}

function overlap(a: Ipv4Subnet | undefined, b: Ipv4Subnet): boolean {
  return a !== undefined && (isInSubnet(b.network, a) || isInSubnet(a.network, b))
}

/** URLs with a name need a name server, which firmware may not hand to its loader (field case 54). */
function checkBootName({ boot: { address, dhcp } }: RawConfig, report: Reporter): void {
  const host = address === undefined ? undefined : parseBootAddress(address)?.address
  if (host === undefined || isIP(host) !== 0 || dhcp === undefined) return
  if (dhcp.mode === 'proxy') {
    report.warn(
      ['boot', 'address'],
      `${host} is a name, and a proxy hands out no name server: firmware and iPXE may not find it; an IP address is safe`,
    )
    return
  }
  dhcp.subnets.forEach(({ subnet, dns }, index) => {
    if (dns.length > 0) return
    report.problem(
      ['boot', 'dhcp', 'subnets', index],
      `${subnet} has no dns, and boot.address is the name ${host}, which nodes must look up`,
      undefined,
      'key',
    )
  })
}
