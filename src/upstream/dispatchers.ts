import type { LookupFunction } from 'node:net'
import * as tls from 'node:tls'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { UpstreamOptions } from './client.ts'
import { bypassesProxy } from './no-proxy.ts'

const connectTimeoutMs = 10_000
/** Far above what any CDN sends, far below what could hurt. */
const maxHeaderBytes = 32 * 1024

export interface Dispatchers {
  /** The way to a URL, and whether a proxy will resolve its name instead of us. */
  routeTo(url: URL, isTrusted: boolean): { readonly dispatcher: Dispatcher; readonly isProxied: boolean }
  close(): Promise<void>
}

/**
 * Three connection pools: direct to origins that an admin wrote down, direct to all others with addresses judged as
 * they are connected to, and through the proxy.
 */
export function createDispatchers(
  options: Pick<UpstreamOptions, 'proxy' | 'noProxy' | 'ca'>,
  lookup: LookupFunction,
): Dispatchers {
  const trust = options.ca === undefined ? {} : { ca: [...systemCertificates(), options.ca] }
  const limits = { maxHeaderSize: maxHeaderBytes }
  const trusted = new Agent({ ...limits, connect: { ...trust, timeout: connectTimeoutMs } })
  const guarded = new Agent({ ...limits, connect: { ...trust, timeout: connectTimeoutMs, lookup } })
  const proxy =
    options.proxy === undefined
      ? undefined
      : new ProxyAgent({
          ...limits,
          uri: options.proxy,
          // Plain http goes to the proxy as a plain request: most proxies allow CONNECT to port 443 alone.
          proxyTunnel: false,
          requestTls: { ...trust, timeout: connectTimeoutMs },
          proxyTls: { ...trust, timeout: connectTimeoutMs },
        })
  return {
    routeTo(url, isTrusted) {
      if (proxy !== undefined && !bypassesProxy(url, options.noProxy)) {
        return { dispatcher: proxy, isProxied: true }
      }
      return { dispatcher: isTrusted ? trusted : guarded, isProxied: false }
    },
    async close() {
      await Promise.all([trusted, guarded, proxy].map((dispatcher) => dispatcher?.destroy()))
    },
  }
}

/** Newer Node can say which certificates it trusts, extra ones of its environment included; Node 20 knows its own list. */
function systemCertificates(): readonly string[] {
  const newer = tls as typeof tls & { getCACertificates?: (kind: 'default') => string[] }
  return newer.getCACertificates?.('default') ?? tls.rootCertificates
}
