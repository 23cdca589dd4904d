import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ipv4, parseIpv4 } from '../../src/core/ipv4.ts'
import { type MacAddress, parseMac } from '../../src/core/mac.ts'
import type { DhcpEvent } from '../../src/dhcp/dhcp-event.ts'
import type { DhcpOption } from '../../src/dhcp/options.ts'
import { type DhcpPacket, decodePacket } from '../../src/dhcp/packet.ts'

/** Bytes from hex; white space and lines that start with `#` do not count. */
export function hex(text: string): Uint8Array {
  const digits = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('')
    .replace(/\s/g, '')
  if (digits.length % 2 !== 0 || /[^0-9a-fA-F]/.test(digits)) throw new Error(`not hex: ${text.slice(0, 80)}`)
  return Uint8Array.from(Buffer.from(digits, 'hex'))
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/..(?=.)/g, '$& ')
}

/** A packet from test/fixtures/dhcp. */
export function fixture(name: string): Uint8Array {
  return hex(readFileSync(join(import.meta.dirname, '../fixtures/dhcp', `${name}.hex`), 'utf8'))
}

export function packetOf(bytes: Uint8Array): DhcpPacket {
  const result = decodePacket(bytes)
  if (!result.packet) throw new Error(`refused: ${result.refused}`)
  return result.packet
}

export function ip(text: string): Ipv4 {
  const address = parseIpv4(text)
  if (address === undefined) throw new Error(`${text} is no address`)
  return address
}

export function mac(text: string): MacAddress {
  const address = parseMac(text)
  if (address === undefined) throw new Error(`${text} is no MAC`)
  return address
}

export interface RequestFields {
  readonly op?: number
  readonly htype?: number
  readonly hlen?: number
  readonly hops?: number
  readonly xid?: number
  readonly secs?: number
  readonly flags?: number
  readonly ciaddr?: string
  readonly giaddr?: string
  /** Hex of the hardware address. */
  readonly chaddr?: string
  /** Hex of what comes after the cookie, END included where there is one. */
  readonly options?: string
}

/** A client's packet, built field by field. */
export function request(fields: RequestFields = {}): Uint8Array {
  const chaddr = hex(fields.chaddr ?? '525400abcdef')
  const options = hex(fields.options ?? '35 01 01 ff')
  const bytes = Buffer.alloc(240 + options.length)
  bytes[0] = fields.op ?? 1
  bytes[1] = fields.htype ?? 1
  bytes[2] = fields.hlen ?? chaddr.length
  bytes[3] = fields.hops ?? 0
  bytes.writeUInt32BE(fields.xid ?? 0x11223344, 4)
  bytes.writeUInt16BE(fields.secs ?? 0, 8)
  bytes.writeUInt16BE(fields.flags ?? 0, 10)
  bytes.writeUInt32BE(ip(fields.ciaddr ?? '0.0.0.0'), 12)
  bytes.writeUInt32BE(ip(fields.giaddr ?? '0.0.0.0'), 24)
  bytes.set(chaddr.subarray(0, 16), 28)
  bytes.writeUInt32BE(0x63825363, 236)
  bytes.set(options, 240)
  return bytes
}

/** One option as hex, from text or numbers. */
export function option(code: number, ...values: readonly (string | number)[]): string {
  const data = Buffer.concat(
    values.map((value) => (typeof value === 'string' ? Buffer.from(value, 'latin1') : Buffer.of(value))),
  )
  return Buffer.of(code, data.length, ...data).toString('hex')
}

export function address4(code: number, ...addresses: readonly string[]): string {
  return option(code, ...addresses.flatMap((address) => address.split('.').map(Number)))
}

/** Option values by code as hex, for comparing. */
export function optionsOf(options: readonly DhcpOption[]): Record<number, string> {
  return Object.fromEntries(options.map(({ code, data }) => [code, toHex(data)]))
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').replace(/\0.*$/s, '')
}

/** A clock that tests move by hand. */
export function manualClock(start = Date.UTC(2026, 10, 29)): { now(): number; advance(ms: number): void } {
  let time = start
  return {
    now: () => time,
    advance(ms) {
      time += ms
    },
  }
}

/** Events as they came. */
export function recorder(): {
  readonly events: DhcpEvent[]
  onEvent(event: DhcpEvent): void
  types(): string[]
} {
  const events: DhcpEvent[] = []
  return { events, onEvent: (event) => events.push(event), types: () => events.map(({ type }) => type) }
}
