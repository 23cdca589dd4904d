import { parseIpv4 } from './ipv4.ts'

/** How the value of an extra DHCP option is written down. */
export const extraOptionTypes = ['text', 'addresses', 'byte', 'uint16', 'uint32', 'hex'] as const
export type ExtraOptionType = (typeof extraOptionTypes)[number]

/** An option by number, as an admin writes it: `{ code: 100, type: text, value: CET-1CEST }`. */
export interface ExtraOption {
  readonly code: number
  readonly type: ExtraOptionType
  readonly value: string
}

export type ExtraOptionBytes =
  | { readonly bytes: Uint8Array }
  | { readonly bytes?: undefined; readonly field: 'code' | 'value'; readonly problem: string }

/** Longer values are split over several options; beyond this no reply could hold one. */
const longestValueBytes = 1024

/**
 * Options that the service itself decides about (RFC 2131, 2132, 3046 and 4578, and 175 of iPXE); a second opinion in
 * the same packet would break clients.
 */
const ownCodes: ReadonlySet<number> = new Set([
  0, 43, 50, 51, 52, 53, 54, 55, 57, 58, 59, 60, 61, 66, 67, 82, 97, 175, 255,
])

/** The bytes of an extra option, or in a sentence what is wrong with it. */
export function encodeExtraOption({ code, type, value }: ExtraOption): ExtraOptionBytes {
  if (!Number.isInteger(code) || code < 0 || code > 255)
    return { field: 'code', problem: `there is no option ${code}` }
  if (ownCodes.has(code)) return { field: 'code', problem: `option ${code} is set by the service itself` }
  const bytes = encode(type, value)
  if (bytes === undefined)
    return { field: 'value', problem: `option ${code}: "${value}" is not ${descriptions[type]}` }
  if (bytes.length > longestValueBytes)
    return { field: 'value', problem: `option ${code} is longer than ${longestValueBytes} bytes` }
  return { bytes: Uint8Array.from(bytes) }
}

const descriptions: Readonly<Record<ExtraOptionType, string>> = {
  text: 'text of printable ASCII characters',
  addresses: 'a list of IPv4 addresses, separated by commas',
  byte: 'a number from 0 to 255',
  uint16: 'a number from 0 to 65535',
  uint32: 'a number from 0 to 4294967295',
  hex: 'a row of hex digits, two a byte',
}

function encode(type: ExtraOptionType, value: string): readonly number[] | undefined {
  switch (type) {
    case 'text':
      return /^[\x20-\x7e]+$/.test(value) ? [...value].map((letter) => letter.charCodeAt(0)) : undefined
    case 'addresses': {
      const addresses = value.split(',').map(parseIpv4)
      const known = addresses.filter((address) => address !== undefined)
      return known.length === addresses.length ? known.flatMap((address) => bigEndian(address, 4)) : undefined
    }
    case 'byte':
      return encodeNumber(value, 1)
    case 'uint16':
      return encodeNumber(value, 2)
    case 'uint32':
      return encodeNumber(value, 4)
    case 'hex': {
      const digits = value.replace(/[\s:]/g, '')
      if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) return undefined
      return (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
    }
  }
}

function encodeNumber(value: string, sizeBytes: number): readonly number[] | undefined {
  const number = /^[0-9]{1,10}$/.test(value) ? Number(value) : Number.NaN
  return number < 2 ** (8 * sizeBytes) ? bigEndian(number, sizeBytes) : undefined
}

function bigEndian(number: number, sizeBytes: number): readonly number[] {
  return Array.from(
    { length: sizeBytes },
    (_, index) => Math.floor(number / 2 ** (8 * (sizeBytes - 1 - index))) % 256,
  )
}
