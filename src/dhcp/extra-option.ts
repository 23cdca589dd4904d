import { parseIpv4 } from '../core/ipv4.ts'
import { optionCode } from './option-codes.ts'
import { byteOption, type DhcpOption, ipv4Option, textOption, uint16Option, uint32Option } from './options.ts'

/** How the value of an extra option is written down. */
export const extraOptionTypes = ['text', 'addresses', 'byte', 'uint16', 'uint32', 'hex'] as const
export type ExtraOptionType = (typeof extraOptionTypes)[number]

/** An option by number, as an admin writes it: `{ code: 100, type: text, value: CET-1CEST }`. */
export interface ExtraOption {
  readonly code: number
  readonly type: ExtraOptionType
  readonly value: string
}

export type ExtraOptionResult =
  | { readonly option: DhcpOption }
  | { readonly option?: undefined; readonly problem: string }

/** Longer values are split over several options; beyond this no reply could hold one. */
const longestValueBytes = 1024

/** Options that the service itself decides about; a second opinion in the same packet would break clients. */
const ownCodes: ReadonlySet<number> = new Set([
  optionCode.pad,
  optionCode.vendorSpecific,
  optionCode.requestedAddress,
  optionCode.leaseTime,
  optionCode.overload,
  optionCode.messageType,
  optionCode.serverIdentifier,
  optionCode.parameterRequestList,
  optionCode.maximumMessageSize,
  optionCode.renewalTime,
  optionCode.rebindingTime,
  optionCode.vendorClass,
  optionCode.clientIdentifier,
  optionCode.tftpServerName,
  optionCode.bootFileName,
  optionCode.relayAgentInformation,
  optionCode.clientMachineIdentifier,
  optionCode.ipxe,
  optionCode.end,
])

/** Reads an extra option, or says in a sentence what is wrong with it. */
export function parseExtraOption({ code, type, value }: ExtraOption): ExtraOptionResult {
  if (!Number.isInteger(code) || code < 0 || code > 255) return { problem: `there is no option ${code}` }
  if (ownCodes.has(code)) return { problem: `option ${code} is set by the service itself` }
  const option = encode(code, type, value)
  if (option === undefined) return { problem: `option ${code}: "${value}" is not ${descriptions[type]}` }
  if (option.data.length > longestValueBytes)
    return { problem: `option ${code} is longer than ${longestValueBytes} bytes` }
  return { option }
}

const descriptions: Readonly<Record<ExtraOptionType, string>> = {
  text: 'text of printable ASCII characters',
  addresses: 'a list of IPv4 addresses, separated by commas',
  byte: 'a number from 0 to 255',
  uint16: 'a number from 0 to 65535',
  uint32: 'a number from 0 to 4294967295',
  hex: 'a row of hex digits, two a byte',
}

function encode(code: number, type: ExtraOptionType, value: string): DhcpOption | undefined {
  switch (type) {
    case 'text':
      return /^[\x20-\x7e]+$/.test(value) ? textOption(code, value) : undefined
    case 'addresses': {
      const addresses = value.split(',').map(parseIpv4)
      const known = addresses.filter((address) => address !== undefined)
      return known.length === addresses.length ? ipv4Option(code, ...known) : undefined
    }
    case 'byte':
      return encodeNumber(value, 0xff, (number) => byteOption(code, number))
    case 'uint16':
      return encodeNumber(value, 0xffff, (number) => uint16Option(code, number))
    case 'uint32':
      return encodeNumber(value, 0xffffffff, (number) => uint32Option(code, number))
    case 'hex': {
      const digits = value.replace(/[\s:]/g, '')
      return /^(?:[0-9a-f]{2})*$/i.test(digits) ? { code, data: Buffer.from(digits, 'hex') } : undefined
    }
  }
}

function encodeNumber(
  value: string,
  max: number,
  write: (number: number) => DhcpOption,
): DhcpOption | undefined {
  if (!/^[0-9]{1,10}$/.test(value)) return undefined
  const number = Number(value)
  return number <= max ? write(number) : undefined
}
