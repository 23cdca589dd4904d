import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { isInSubnet, parseIpv4Subnet } from '../core/ipv4.ts'
import { checkSettings, knownNames } from './check-settings.ts'
import type { ConfigPath } from './config-path.ts'
import type { LayeredData, Reporter } from './layered-data.ts'
import { isLoopback, type ListenAddress, parseBootAddress, parseListenAddress } from './listen-address.ts'
import { parseIpv4Range } from './port-and-address-ranges.ts'
import type { RawConfig } from './schema.ts'
import { suggestion } from './suggest.ts'
import { originOf } from './web-url.ts'

/** What a schema cannot say: how the parts of a valid configuration fit together. `now` in ms since the epoch. */
export function checkConfig(raw: RawConfig, layers: LayeredData, report: Reporter, now: number): void {
  checkListeners(raw, report)
  checkDhcp(raw, report)
  checkStreams(raw, report)
  checkUnknown(raw, layers, report)
  const context = { ...knownNames(raw), report, now }
  for (const [name, profile] of Object.entries(raw.profiles)) {
    checkSettings(profile, ['profiles', name], context)
  }
  for (const [name, group] of Object.entries(raw.groups)) checkSettings(group, ['groups', name], context)
}

function checkListeners(raw: RawConfig, report: Reporter): void {
  const boot = parseListenAddress(raw.boot.http.listen)
  const admin = parseListenAddress(raw.admin.listen)
  if (boot === undefined || admin === undefined) return
  if (overlap(boot, admin)) {
    report.problem(
      ['admin', 'listen'],
      `found ${raw.admin.listen}, where boot.http.listen is (${raw.boot.http.listen}); allowed: an address of its own`,
    )
  }
  if (!isLoopback(admin)) {
    report.warn(
      ['admin', 'listen'],
      'others can reach it, so this version answers health and metrics there, and keeps the API closed',
    )
  }
}

function overlap(a: ListenAddress, b: ListenAddress): boolean {
  const isAny = ({ host }: ListenAddress) => host === undefined || host === '0.0.0.0' || host === '::'
  return a.port === b.port && a.port !== 0 && (isAny(a) || isAny(b) || a.host === b.host)
}

function checkDhcp(raw: RawConfig, report: Reporter): void {
  const { dhcp, tftp } = raw.boot
  if (dhcp === undefined || dhcp.mode === 'off') return
  if (tftp === undefined) {
    report.warn(
      ['boot', 'dhcp'],
      'without boot.tftp only UEFI HTTP Boot and iPXE find a loader',
      undefined,
      'key',
    )
  }
  if (dhcp.mode === 'server' && dhcp.subnets.length === 0) {
    report.problem(
      ['boot', 'dhcp'],
      'mode server needs subnets; allowed: a list of { subnet, ranges, … }',
      undefined,
      'key',
    )
  }
  if (dhcp.mode === 'proxy' && dhcp.subnets.length > 0) {
    report.warn(
      ['boot', 'dhcp', 'subnets'],
      'a proxy gives no addresses, so its subnets do nothing',
      undefined,
      'key',
    )
  }
  checkBootName(raw, report)
  dhcp.subnets.forEach((entry, index) => {
    const subnet = parseIpv4Subnet(entry.subnet)
    entry.ranges.forEach((text, at) => {
      const range = parseIpv4Range(text)
      if (subnet === undefined || range === undefined) return
      if (isInSubnet(range.first, subnet) && isInSubnet(range.last, subnet)) return
      const path = ['boot', 'dhcp', 'subnets', index, 'ranges', at]
      report.problem(path, `${text} is not inside ${entry.subnet}`)
    })
  })
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

function checkStreams(raw: RawConfig, report: Reporter): void {
  const streams = Object.entries(raw.streams)
  if (streams.length === 0) report.warn(['streams'], 'no stream is followed, so there is nothing to boot')
  const headersByOrigin = new Map<string, { readonly headers: unknown; readonly name: string }>()
  for (const [name, stream] of streams) {
    const path: ConfigPath = ['streams', name]
    const { source } = stream
    const only = (key: keyof typeof source, needed: keyof typeof source) => {
      if (source[key] === undefined || source[needed] !== undefined) return
      report.problem([...path, 'source', key], `only means something beside ${needed}`, undefined, 'key')
    }
    only('mirrors', 'url')
    only('headers', 'url')
    only('stream', 'directory')
    if (stream.signatures === 'required' && (stream.keys ?? raw.keys).length === 0) {
      report.warn(
        [...path, 'signatures'],
        'signatures are required, but no key is trusted: nothing of this stream will be accepted',
      )
    }
    if (source.url === undefined || source.headers === undefined) continue
    const origin = originOf(source.url)
    const other = headersByOrigin.get(origin)
    if (other !== undefined && !isDeepStrictEqual(other.headers, source.headers)) {
      report.problem(
        [...path, 'source', 'headers'],
        `differ from those of stream ${other.name} for the same origin ${origin}`,
        undefined,
        'key',
      )
    }
    headersByOrigin.set(origin, { headers: source.headers, name })
  }
}

/** Machines that no record knows get nothing, or a profile that cannot harm them (DESIGN §7). */
function checkUnknown(raw: RawConfig, layers: LayeredData, report: Reporter): void {
  const { dhcp } = raw.boot
  const unknownPath = typeof raw.unknown === 'string' ? ['unknown'] : ['unknown', 'profile']
  if (dhcp !== undefined && dhcp.mode !== 'off' && layers.origin(unknownPath).kind === 'default') {
    report.problem(
      ['boot', 'dhcp'],
      'needs the key "unknown" written down, because DHCP answers every machine; allowed: ignore or { profile: NAME }',
      undefined,
      'key',
    )
  }
  if (typeof raw.unknown === 'string') return
  const { profile: name } = raw.unknown
  const profile = Object.hasOwn(raw.profiles, name) ? raw.profiles[name] : undefined
  if (profile === undefined) {
    report.problem(
      unknownPath,
      `there is no profile ${JSON.stringify(name)}`,
      suggestion(name, Object.keys(raw.profiles)),
    )
  } else if (profile.mode === 'install') {
    report.problem(
      unknownPath,
      `profile ${JSON.stringify(name)} installs to disk, and unknown machines are never installed`,
    )
  } else if (profile.mode === undefined) {
    report.warn(unknownPath, `profile ${JSON.stringify(name)} has no mode, so unknown machines are held`)
  }
}
