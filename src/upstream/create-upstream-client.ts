import { lookup } from 'node:dns'
import type { Dispatcher } from 'undici'
import { ServiceError } from '../core/errors.ts'
import { addressRefusal, isLocalhostName } from './address-rules.ts'
import type { UpstreamClient, UpstreamOptions, UpstreamRequest, UpstreamResponse } from './client.ts'
import { createDispatchers } from './dispatchers.ts'
import { displayUrl, withoutLogin } from './display-url.ts'
import { guardedLookup, type Resolver } from './guarded-lookup.ts'
import { judgeRedirect } from './redirect.ts'
import { responseBody } from './response-body.ts'
import { addressRefused, upstreamError } from './upstream-error.ts'

const defaultStallTimeoutMs = 30_000

/** What a request may carry on to another origin; anything else may speak for us and stays behind. */
const portableHeaders: ReadonlySet<string> = new Set([
  'accept',
  'cache-control',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'pragma',
  'range',
])

/** Where the client touches the world, for tests. */
export interface UpstreamEdges {
  readonly resolve?: Resolver
  /** Of the trace that a request is a part of, at the moment it is sent. */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
}

/**
 * The one way out to http(s) sources: proxy, private CA, extra headers by origin, redirects and addresses judged on
 * every hop (field case 163), progress watched. Nothing is ever asked for compressed: digests are over the file itself.
 * @throws ServiceError CONFIG_INVALID when an origin or the proxy is not a URL
 */
export function createUpstreamClient(options: UpstreamOptions & UpstreamEdges): UpstreamClient {
  const stallTimeoutMs = options.stallTimeoutMs ?? defaultStallTimeoutMs
  const allowedOrigins = new Set(options.allowedOrigins.map(originOf))
  const originHeaders = new Map(
    Object.entries(options.headers ?? {}).map(([origin, headers]) => [originOf(origin), headers]),
  )
  if (options.proxy !== undefined) originOf(options.proxy)
  const dispatchers = createDispatchers(options, guardedLookup(options.resolve ?? lookup))

  async function send(url: URL, request: UpstreamRequest, first: URL): Promise<Dispatcher.ResponseData> {
    const isTrusted = allowedOrigins.has(url.origin)
    const { dispatcher, isProxied } = dispatchers.routeTo(url, isTrusted)
    if (!isTrusted) refuseByName(url, isProxied)
    try {
      return await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method ?? 'GET',
        headers: headersFor(url, request, first),
        headersTimeout: stallTimeoutMs,
        bodyTimeout: stallTimeoutMs,
        signal: request.signal ?? null,
      })
    } catch (error) {
      request.signal?.throwIfAborted()
      throw upstreamError('requesting', url, error)
    }
  }

  function headersFor(url: URL, request: UpstreamRequest, first: URL): Record<string, string> {
    const isSameOrigin = url.origin === first.origin
    const given = Object.entries(request.headers ?? {})
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => isSameOrigin || portableHeaders.has(name))
    const ofOrigin = Object.entries(originHeaders.get(url.origin) ?? {}).map(
      ([name, value]): [string, string] => [name.toLowerCase(), value],
    )
    const login = isSameOrigin ? basicLogin(first) : {}
    return {
      'user-agent': options.userAgent ?? 'pilotlight',
      ...login,
      ...Object.fromEntries(ofOrigin),
      ...Object.fromEntries(given),
      ...options.traceHeaders?.(),
      'accept-encoding': 'identity',
    }
  }

  return {
    async request(request) {
      const first = parseTarget(request.url)
      const visited = [withoutLogin(first)]
      let url = first
      for (;;) {
        const response = await send(url, request, first)
        const headers = plainHeaders(response.headers)
        const redirect = judgeRedirect(url, response.statusCode, headers.location, visited)
        if (redirect.kind === 'none') {
          return describeResponse(url, response, headers, request.signal, stallTimeoutMs)
        }
        discardBody(response)
        if (redirect.kind === 'refused') throw redirectRefused(url, headers.location, redirect.why)
        url = redirect.url
        visited.push(url.href)
      }
    },
    close: () => dispatchers.close(),
  }
}

function describeResponse(
  url: URL,
  response: Dispatcher.ResponseData,
  headers: UpstreamResponse['headers'],
  signal: AbortSignal | undefined,
  stallTimeoutMs: number,
): UpstreamResponse {
  // An answer that breaks before anybody reads it is an error for whoever reads it, not for the process.
  response.body.on('error', () => {})
  return {
    url: withoutLogin(url),
    status: response.statusCode,
    headers,
    body: responseBody({ body: response.body, url, signal, stallTimeoutMs }),
    async discard() {
      discardBody(response)
    },
  }
}

function discardBody({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {}).destroy()
}

/** Literal addresses never reach `lookup`, and behind a proxy no name does. */
function refuseByName(url: URL, isProxied: boolean): void {
  const kind = addressRefusal(url.hostname)
  if (kind !== undefined) throw addressRefused(url, `${url.hostname} is a ${kind} address`)
  if (isProxied || !isLocalhostName(url.hostname)) return
  throw addressRefused(url, `${url.hostname} means this machine`)
}

function redirectRefused(from: URL, location: string | undefined, why: string): ServiceError {
  const target =
    location !== undefined && URL.canParse(location, from.href) ? new URL(location, from.href) : '?'
  const found = displayUrl(target)
  return new ServiceError(
    'UPSTREAM_REFUSED',
    `following the redirect of ${displayUrl(from)} to ${found}: ${why}`,
    { url: displayUrl(from), step: 'following the redirect of', found },
  )
}

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ServiceError('UPSTREAM_REFUSED', `requesting ${displayUrl(text)}: only http and https URLs`, {
    url: displayUrl(text),
    step: 'requesting',
  })
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && url.origin !== 'null') return url.origin
  throw new ServiceError('CONFIG_INVALID', `${displayUrl(text)} is not an origin such as http://host:port`)
}

/** `http://user:password@host/`, as admins write mirrors, becomes a header for that origin. */
function basicLogin({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const plain = `${percentDecoded(username)}:${percentDecoded(password)}`
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
}
