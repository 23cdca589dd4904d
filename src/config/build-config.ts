import { type Arch, parseArch } from '../core/arch.ts'
import type { Webhook } from '../core/webhook.ts'
import type { UpstreamOptions } from '../upstream/client.ts'
import { buildDhcp, buildTftp } from './build-dhcp.ts'
import type {
  AdminConfig,
  Config,
  SourceConfig,
  SourceLocation,
  StreamConfig,
  TrustedKeyFile,
} from './config.ts'
import { type ConfigPath, pathText } from './config-path.ts'
import { parseDuration } from './duration.ts'
import type { Reporter } from './layered-data.ts'
import { type ListenAddress, parseBootAddress, parseListenAddress } from './listen-address.ts'
import { parseMemorySize } from './memory-size.ts'
import type { RawConfig } from './schema.ts'
import { type BaseUrl, originOf, parseBaseUrl } from './web-url.ts'

type RawStream = RawConfig['streams'][string]
type RawSource = RawStream['source']

/** What building needs to know of the world. */
export interface BuildContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** A path as written, made absolute against the place where it was written. */
  absolute(path: ConfigPath, file: string): string
  /** Texts of the files that the configuration names (`referencedFiles`), by path in the configuration. */
  readonly texts: ReadonlyMap<string, string>
  readonly report: Reporter
}

/** Turns valid data into typed values. What only shows now (a secret that is not there) goes to `report`. */
export function buildConfig(raw: RawConfig, context: BuildContext): Config {
  const { boot, templates, retention, capture, log } = raw
  const streams = Object.entries(raw.streams).map(([name, stream]) => buildStream(name, stream, raw, context))
  return {
    dataDir: context.absolute(['dataDir'], raw.dataDir),
    boot: {
      ...(boot.address === undefined
        ? {}
        : { address: parsed(parseBootAddress(boot.address), boot.address) }),
      http: { ...boot.http, listen: listen(boot.http.listen) },
      ...(boot.tftp === undefined ? {} : { tftp: buildTftp(boot.tftp) }),
      ...(boot.dhcp === undefined || boot.dhcp.mode === 'off' ? {} : { dhcp: buildDhcp(boot.dhcp) }),
      loaders: {
        directories: boot.loaders.directories.map((directory, index) =>
          context.absolute(['boot', 'loaders', 'directories', index], directory),
        ),
        sets: new Map(
          Object.entries(boot.loaders.sets).map(([name, { directory }]) => [
            name,
            context.absolute(['boot', 'loaders', 'sets', name, 'directory'], directory),
          ]),
        ),
      },
      tokens: {
        lifeMs: parsed(parseDuration(boot.tokens.life), boot.tokens.life),
        reportLifeMs: parsed(parseDuration(boot.tokens.reportLife), boot.tokens.reportLife),
        bind: boot.tokens.bind,
      },
    },
    admin: buildAdmin(raw, context),
    streams: new Map(streams.map((stream) => [stream.name, stream])),
    ...(templates === undefined
      ? {}
      : { templatesDirectory: context.absolute(['templates', 'directory'], templates.directory) }),
    upstream: buildUpstream(raw, streams, context),
    webhooks: buildWebhooks(raw, context),
    retention: {
      auditMs: parsed(parseDuration(retention.audit), retention.audit),
      reportsMs: parsed(parseDuration(retention.reports), retention.reports),
      bootsMs: parsed(parseDuration(retention.boots), retention.boots),
      seenMs: parsed(parseDuration(retention.seen), retention.seen),
    },
    ...(capture === 'off'
      ? {}
      : { capture: { memoryBytes: parsed(parseMemorySize(capture.memory), capture.memory) } }),
    log,
  }
}

function buildWebhooks({ webhooks }: RawConfig, { texts }: BuildContext): readonly Webhook[] {
  return webhooks.map(({ name, url, events }, index) => ({
    name,
    url,
    secret: texts.get(pathText(['webhooks', index, 'secretFile']))?.trim() ?? '',
    events,
  }))
}

function buildAdmin({ admin }: RawConfig, { texts }: BuildContext): AdminConfig {
  const certificate = texts.get('admin.tls.certificate')
  const key = texts.get('admin.tls.key')
  const clientAuthority = texts.get('admin.tls.clientAuthority')
  return {
    listen: listen(admin.listen),
    ...(certificate !== undefined &&
      key !== undefined && {
        tls: { certificate, key, ...(clientAuthority !== undefined && { clientAuthority }) },
      }),
    trustedProxies: admin.trustedProxies,
  }
}

function buildStream(name: string, raw: RawStream, config: RawConfig, context: BuildContext): StreamConfig {
  const path = ['streams', name]
  const keyFiles = raw.keys === undefined ? config.keys : raw.keys
  const keyPath = raw.keys === undefined ? ['keys'] : [...path, 'keys']
  return {
    name,
    source: buildSource(name, raw.source, [...path, 'source'], context),
    architectures: [...new Set(raw.architectures.map(archOf))],
    refreshMs: parsed(parseDuration(raw.refresh), raw.refresh),
    keep: raw.keep,
    signatures: raw.signatures,
    keys: keyFiles.flatMap((file, index) => keyFile([...keyPath, index], file, context)),
    mirrors: raw.mirrors.map(baseUrl),
    changes: {
      advanced: raw.changes.advanced,
      'rolled-back': raw.changes.rolledBack,
      republished: raw.changes.republished,
    },
    ...(raw.loaderSet === undefined ? {} : { loaderSet: raw.loaderSet }),
  }
}

function keyFile(path: ConfigPath, file: string, context: BuildContext): TrustedKeyFile[] {
  const text = context.texts.get(pathText(path))
  return text === undefined ? [] : [{ path: context.absolute(path, file), text }]
}

function buildSource(name: string, raw: RawSource, path: ConfigPath, context: BuildContext): SourceConfig {
  const { baseUrl: base, configMapStream, arch, releaseIndex } = raw
  return {
    ...buildLocation(name, raw, path, context),
    hints: {
      ...(base === undefined ? {} : { baseUrl: baseUrl(base) }),
      ...(configMapStream === undefined ? {} : { configMapStream }),
      ...(arch === undefined ? {} : { arch: archOf(arch) }),
    },
    ...(releaseIndex === undefined ? {} : { releaseIndex }),
    headers: buildHeaders(raw.headers ?? {}, [...path, 'headers'], context),
  }
}

function buildLocation(
  name: string,
  raw: RawSource,
  path: ConfigPath,
  context: BuildContext,
): SourceLocation {
  const { url, file, directory, configMap } = raw
  if (url !== undefined) return { kind: 'url', url, mirrors: raw.mirrors ?? [] }
  if (file !== undefined) return { kind: 'file', path: context.absolute([...path, 'file'], file) }
  if (directory !== undefined) {
    return {
      kind: 'directory',
      path: context.absolute([...path, 'directory'], directory),
      stream: raw.stream ?? name,
    }
  }
  if (configMap === undefined) throw new TypeError('unreachable: the schema asks for exactly one location')
  const { namespace, name: mapName, tokenFile, caFile } = configMap
  const inside = [...path, 'configMap']
  return {
    kind: 'configMap',
    server: configMap.server === undefined ? clusterServer(inside, context) : baseUrl(configMap.server),
    namespace,
    name: mapName,
    tokenFile: context.absolute([...inside, 'tokenFile'], tokenFile),
    caFile: context.absolute([...inside, 'caFile'], caFile),
  }
}

/** The API server of the cluster around us, from the variables that every pod has. */
function clusterServer(path: ConfigPath, { env, report }: BuildContext): BaseUrl {
  const host = env.KUBERNETES_SERVICE_HOST ?? ''
  const url = parseBaseUrl(
    `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`,
  )
  if (host !== '' && url !== undefined) return url
  report.problem(path, 'the key "server" is missing, and this is not inside of a cluster', undefined, 'key')
  return baseUrl('https://kubernetes.default.svc')
}

function buildHeaders(
  raw: NonNullable<RawSource['headers']>,
  path: ConfigPath,
  { env, texts, report }: BuildContext,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    if (typeof value === 'string') headers[name] = value
    else if (value.env !== undefined) {
      const secret = env[value.env]
      if (secret) headers[name] = secret.trim()
      else report.problem([...path, name, 'env'], `the environment variable ${value.env} is not set`)
    } else {
      const secret = texts.get(pathText([...path, name, 'file']))
      if (secret !== undefined) headers[name] = secret.trim()
    }
    const found = headers[name]
    if (found !== undefined && !/^[\x20-\x7e]+$/.test(found)) {
      report.problem(
        [...path, name],
        'found something else (hidden), allowed: one line of printable ASCII characters',
      )
    }
  }
  return headers
}

function buildUpstream(
  raw: RawConfig,
  streams: readonly StreamConfig[],
  context: BuildContext,
): UpstreamOptions {
  const { proxy, noProxy, allow } = raw.upstream
  const ca = context.texts.get('upstream.ca')
  const headers: Record<string, Record<string, string>> = {}
  for (const { source } of streams) {
    if (source.kind !== 'url' || Object.keys(source.headers).length === 0) continue
    const origin = originOf(source.url)
    headers[origin] = { ...headers[origin], ...source.headers }
  }
  return {
    ...(proxy === undefined ? {} : { proxy }),
    ...(noProxy === undefined ? {} : { noProxy }),
    ...(ca === undefined ? {} : { ca }),
    allowedOrigins: [...new Set([...allow, ...streams.flatMap(urlsOf)].map(originOf))],
    headers,
  }
}

/** Every URL that the admin wrote down for a stream. */
function urlsOf({ source, mirrors }: StreamConfig): readonly string[] {
  const { hints, releaseIndex } = source
  const urls = source.kind === 'url' ? [source.url, ...source.mirrors] : []
  const server = source.kind === 'configMap' ? [source.server] : []
  return [...urls, ...server, hints.baseUrl, releaseIndex, ...mirrors].filter((url) => url !== undefined)
}

function listen(text: string): ListenAddress {
  return parsed(parseListenAddress(text), text)
}

function archOf(text: string): Arch {
  return parsed(parseArch(text), text)
}

function baseUrl(text: string): BaseUrl {
  return parsed(parseBaseUrl(text), text)
}

/** The schema has checked the text with the same parser. */
function parsed<T>(value: T | undefined, text: string): T {
  if (value === undefined) throw new TypeError(`unreachable: ${JSON.stringify(text)} passed the schema`)
  return value
}
