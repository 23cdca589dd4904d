import { isIP } from 'node:net'

/** What a TLS listener is opened with, as PEM text. */
export interface AdminTls {
  readonly certificate: string
  readonly key: string
  /** Whoever has no certificate of this authority is not let in, whatever token they have. */
  readonly clientAuthority?: string
}

/**
 * Who can reach an admin app. `control`: the socket in the data directory, whose file mode is the credential.
 * A TCP listener says its listen address, and which proxies are believed when they say for whom they ask.
 */
export type AdminAccess =
  | 'control'
  | { readonly host: string; readonly trustedProxies?: readonly string[]; readonly tls?: AdminTls }

/** Whether an address to listen on (`127.0.0.1`, `::1`, `[::1]`, `localhost`) can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host.toLowerCase())
  if (name === 'localhost' || name === '::1') return true
  const ipv4 = name.startsWith('::ffff:') ? name.slice('::ffff:'.length) : name
  return isIP(ipv4) === 4 && ipv4.startsWith('127.')
}

/**
 * Whether a Host header names this listener. A page anywhere can make a browser here send requests to a name that
 * its owner points at 127.0.0.1 (DNS rebinding); such a request carries that name. Without a Host header it is no
 * browser.
 */
export function isAllowedHost(header: string | undefined, listenHost: string): boolean {
  if (header === undefined) return true
  const [, host] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(header) ?? []
  if (host === undefined) return false
  const name = withoutBrackets(host.toLowerCase())
  return ['localhost', '127.0.0.1', '::1', withoutBrackets(listenHost.toLowerCase())].includes(name)
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
