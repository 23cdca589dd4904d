import { type Ipv4, parseIpv4 } from '../core/ipv4.ts'

/** Both ends belong to it. */
export interface Ipv4Range {
  readonly first: Ipv4
  readonly last: Ipv4
}

/** Reads `192.0.2.100-192.0.2.199`, or a single address. */
export function parseIpv4Range(text: string): Ipv4Range | undefined {
  const [from = '', to = from, ...rest] = text.split('-').map((part) => part.trim())
  const first = parseIpv4(from)
  const last = parseIpv4(to)
  if (first === undefined || last === undefined || rest.length > 0 || first > last) return undefined
  return { first, last }
}

export type TftpPortsConfig =
  | { readonly mode: 'each' | 'few' | 'single' }
  | { readonly mode: 'range'; readonly first: number; readonly last: number }

/** Reads `each`, `few`, `single` or `30000-30100`. */
export function parseTftpPorts(text: string): TftpPortsConfig | undefined {
  if (text === 'each' || text === 'few' || text === 'single') return { mode: text }
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text)
  const [first, last] = [Number(match?.[1]), Number(match?.[2])]
  return first >= 1024 && first <= last && last <= 65535 ? { mode: 'range', first, last } : undefined
}
