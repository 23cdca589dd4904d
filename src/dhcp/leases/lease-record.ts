import { crc32 } from 'node:zlib'
import { formatIpv4, parseIpv4 } from '../../core/ipv4.ts'
import { parseClientKey } from '../hardware-address.ts'
import type { LeaseChange } from './lease.ts'

/**
 * One line of the lease log: `leased 192.0.2.55 52:54:00:ab:cd:ef 1795953600 1c9f3a07`, the last word being the
 * CRC-32 of what stands before it. A line can be read alone, and a torn or damaged one is known for what it is.
 */
export function leaseLine(change: LeaseChange): string {
  const key = change.kind === 'declined' ? '-' : change.key
  const text = `${change.kind} ${formatIpv4(change.address)} ${key} ${change.until}`
  return `${text} ${checksum(text)}\n`
}

/** Reads one line without its end; `undefined` for anything that was not written whole. */
export function parseLeaseLine(line: string): LeaseChange | undefined {
  const split = line.lastIndexOf(' ')
  const text = line.slice(0, Math.max(split, 0))
  if (checksum(text) !== line.slice(split + 1)) return undefined
  const [kind, addressText = '', keyText = '', untilText = '', ...rest] = text.split(' ')
  const address = parseIpv4(addressText)
  if (address === undefined || rest.length > 0 || !/^[0-9]{1,10}$/.test(untilText)) return undefined
  const until = Number(untilText)
  if (kind === 'declined') return { kind, address, until }
  const key = parseClientKey(keyText)
  if (key === undefined || (kind !== 'leased' && kind !== 'released')) return undefined
  return { kind, address, key, until }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
