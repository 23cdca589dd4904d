import { type Ipv4, toIpv4 } from '../core/ipv4.ts'
import { optionCode } from './option-codes.ts'

/** One option, raw. An option that came in several parts is one option here, its bytes joined (RFC 3396). */
export interface DhcpOption {
  readonly code: number
  readonly data: Uint8Array
}

/** The longest value that one instance of an option can hold. */
export const maxOptionLength = 255

/**
 * Reads the option field at `from` (the options after the cookie, or an overloaded `file` or `sname`) and appends what it
 * holds to `into`, in order. A missing END is taken for the end of the field, because some ROMs leave it out.
 * Returns false when an option's length byte is missing or points past `end`.
 */
export function readOptionField(bytes: Uint8Array, from: number, end: number, into: DhcpOption[]): boolean {
  let at = from
  while (at < end) {
    const code = bytes[at++] as number
    if (code === optionCode.pad) continue
    if (code === optionCode.end) return true
    if (at >= end) return false
    const start = at + 1
    at = start + (bytes[at] as number)
    if (at > end) return false
    into.push({ code, data: bytes.subarray(start, at) })
  }
  return true
}

/** Joins the parts of each option that came more than once, at the place of its first part (RFC 3396). */
export function joinRepeatedOptions(parts: readonly DhcpOption[]): readonly DhcpOption[] {
  if (!hasRepeats(parts)) return parts
  const byCode = new Map<number, Uint8Array[]>()
  for (const { code, data } of parts) {
    const known = byCode.get(code)
    if (known) known.push(data)
    else byCode.set(code, [data])
  }
  return [...byCode].map(([code, data]) => ({ code, data: data.length === 1 ? first(data) : concat(data) }))
}

export function findOption(options: readonly DhcpOption[], code: number): Uint8Array | undefined {
  for (const option of options) if (option.code === code) return option.data
  return undefined
}

/** The value of an option that must be exactly one byte. */
export function readByte(data: Uint8Array | undefined): number | undefined {
  return data?.length === 1 ? data[0] : undefined
}

/** The value of an option that must be exactly two bytes. */
export function readUint16(data: Uint8Array | undefined): number | undefined {
  return data?.length === 2 ? uint16At(data, 0) : undefined
}

/** The value of an option that must be exactly four bytes. */
export function readUint32(data: Uint8Array | undefined): number | undefined {
  return data?.length === 4 ? uint32At(data, 0) : undefined
}

/** The value of an option that must be exactly one address. */
export function readIpv4(data: Uint8Array | undefined): Ipv4 | undefined {
  return data?.length === 4 ? toIpv4(uint32At(data, 0)) : undefined
}

/**
 * The value of a text option: printable ASCII up to the first NUL, which some clients append.
 * Anything else in it makes it no text.
 */
export function readText(data: Uint8Array | undefined): string | undefined {
  if (data === undefined) return undefined
  let text = ''
  for (const byte of data) {
    if (byte === 0) break
    if (byte < 0x20 || byte > 0x7e) return undefined
    text += String.fromCharCode(byte)
  }
  return text
}

export function uint16At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return ((uint16At(bytes, at) << 16) | uint16At(bytes, at + 2)) >>> 0
}

export function byteOption(code: number, value: number): DhcpOption {
  return { code, data: Uint8Array.of(value) }
}

export function uint16Option(code: number, value: number): DhcpOption {
  return { code, data: Uint8Array.of(value >>> 8, value) }
}

export function uint32Option(code: number, value: number): DhcpOption {
  return { code, data: Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value) }
}

/** One or more addresses, in order. */
export function ipv4Option(code: number, ...addresses: readonly Ipv4[]): DhcpOption {
  const data = addresses.flatMap((value) => [
    value >>> 24,
    (value >>> 16) & 255,
    (value >>> 8) & 255,
    value & 255,
  ])
  return { code, data: Uint8Array.from(data) }
}

/** Whether a value begins with these ASCII characters, in this case. */
export function startsWithText(data: Uint8Array | undefined, text: string): boolean {
  if (data === undefined || data.length < text.length) return false
  for (let index = 0; index < text.length; index++) if (data[index] !== text.charCodeAt(index)) return false
  return true
}

/** Text without a terminating NUL (RFC 2132 §2). Callers give ASCII. */
export function textOption(code: number, text: string): DhcpOption {
  return { code, data: Buffer.from(text, 'latin1') }
}

function hasRepeats(parts: readonly DhcpOption[]): boolean {
  // Ordinary packets hold a dozen options: comparing pairs is cheaper than a set. Hostile ones hold hundreds.
  if (parts.length > 32) return new Set(parts.map(({ code }) => code)).size < parts.length
  for (let index = 1; index < parts.length; index++) {
    const { code } = parts[index] as DhcpOption
    for (let other = 0; other < index; other++) if (parts[other]?.code === code) return true
  }
  return false
}

function first(data: readonly Uint8Array[]): Uint8Array {
  return data[0] as Uint8Array
}

function concat(data: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(data.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of data) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
