import { isDeepStrictEqual } from 'node:util'
import { checkDhcp } from './check-dhcp.ts'
import { checkSettings, knownNames } from './check-settings.ts'
import type { ConfigPath } from './config-path.ts'
import type { LayeredData, Reporter } from './layered-data.ts'
import { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.ts'
import type { RawConfig } from './schema.ts'
import { suggestion } from './suggest.ts'
import { originOf } from './web-url.ts'

export interface ConfigCheck {
  readonly layers: LayeredData
  readonly report: Reporter
  /** Ms since the epoch. */
  readonly now: number
  /** Absolute. */
  readonly dataDir: string
}

/** What a schema cannot say: how the parts of a valid configuration fit together. */
export function checkConfig(raw: RawConfig, { layers, report, now, dataDir }: ConfigCheck): void {
  checkDataDir(dataDir, report)
  checkListeners(raw, report)
  checkDhcp(raw, report)
  checkStreams(raw, report)
  checkUnknown(raw, layers, report)
  checkWebhooks(raw, report)
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
  if (!isLoopback(admin) && raw.admin.tls === undefined) {
    report.warn(
      ['admin', 'listen'],
      'others can reach it without TLS, so tokens cross the network in clear text',
      'set admin.tls, or leave it on 127.0.0.1 behind a proxy that speaks TLS',
    )
  }
}

function overlap(a: ListenAddress, b: ListenAddress): boolean {
  const isAny = ({ host }: ListenAddress) => host === undefined || host === '0.0.0.0' || host === '::'
  return a.port === b.port && a.port !== 0 && (isAny(a) || isAny(b) || a.host === b.host)
}

/** Directories of the system, where a service would spread its files among those of others. */
const systemDirectories: ReadonlySet<string> = new Set([
  ...[
    '/',
    '/bin',
    '/boot',
    '/dev',
    '/etc',
    '/home',
    '/lib',
    '/lib64',
    '/mnt',
    '/opt',
    '/proc',
    '/root',
    '/run',
  ],
  ...[
    '/sbin',
    '/srv',
    '/sys',
    '/tmp',
    '/usr',
    '/usr/local',
    '/var',
    '/var/cache',
    '/var/lib',
    '/var/run',
    '/var/tmp',
  ],
])

function checkDataDir(path: string, report: Reporter): void {
  if (systemDirectories.has(path)) {
    report.warn(
      ['dataDir'],
      `${path} belongs to the system, and everything there would lie among files of others`,
      'give it a directory of its own, such as /var/lib/pilotlight',
    )
  }
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

function checkWebhooks({ webhooks }: RawConfig, report: Reporter): void {
  const names = new Set<string>()
  for (const [index, { name }] of webhooks.entries()) {
    if (names.has(name)) {
      report.problem(
        ['webhooks', index, 'name'],
        `another webhook is called ${JSON.stringify(name)} as well, allowed: a name of its own`,
      )
    }
    names.add(name)
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
