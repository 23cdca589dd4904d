import { isIPv4, isIPv6 } from 'node:net'

/** Where a listener is opened. Without a host: every address of this machine. Port 0: any free one. */
export interface ListenAddress {
  /** IPv4 or IPv6 literal, without brackets. */
  readonly host?: string
  readonly port: number
}

/** What goes into URLs instead of the address that was asked. */
export interface BootAddress {
  /** IP literal without brackets, or a name that the nodes can resolve. */
  readonly address: string
  readonly port?: number
}

const name = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

/** Reads `0.0.0.0:80`, `[::]:80`, `:8080` and `localhost:8081`; names other than localhost are refused. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const parts = splitPort(text)
  if (parts?.port === undefined) return undefined
  const { host, port } = parts
  if (host === '') return { port }
  if (host === 'localhost') return { host: '127.0.0.1', port }
  return isIPv4(host) || isBracketed(host) ? { host: withoutBrackets(host), port } : undefined
}

/** Reads `192.0.2.10`, `[2001:db8::1]`, `2001:db8::1` or `boot.example`, each but the third with a port if need be. */
export function parseBootAddress(text: string): BootAddress | undefined {
  if (isIPv6(text)) return isUnspecified(text) ? undefined : { address: text }
  const parts = splitPort(text)
  if (parts === undefined || parts.port === 0) return undefined
  const { host, port } = parts
  // Four numbers that are no address are a typo, not a name.
  const isName = name.test(host) && !/^[\d.]+$/.test(host)
  if (!isIPv4(host) && !isBracketed(host) && !isName) return undefined
  const address = withoutBrackets(host)
  return isUnspecified(address) ? undefined : { address, ...(port === undefined ? {} : { port }) }
}

/** Whether only this machine can reach the listener. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host !== undefined && (host.startsWith('127.') || host === '::1')
}

/** Good to listen on, but nobody can be told to ask there. */
function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || (isIPv6(address) && /^[0:]+$/.test(address))
}

function splitPort(text: string): { host: string; port?: number } | undefined {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text)
  if (match === null) return undefined
  const [, host = '', digits] = match
  if (digits === undefined) return { host }
  const port = Number(digits)
  return port > 65_535 ? undefined : { host, port }
}

function isBracketed(host: string): boolean {
  return host.startsWith('[') && isIPv6(withoutBrackets(host)) && !host.includes('%')
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
