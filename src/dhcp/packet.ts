import { type Ipv4, toIpv4 } from '../core/ipv4.ts'
import { optionCode } from './option-codes.ts'
import {
  type DhcpOption,
  findOption,
  joinRepeatedOptions,
  readByte,
  readOptionField,
  uint16At,
  uint32At,
} from './options.ts'

/** A BOOTP message with DHCP options (RFC 2131 §2). Byte fields are views into the datagram: copy what is kept. */
export interface DhcpPacket {
  /** The whole datagram. */
  readonly bytes: Uint8Array
  /** 1 from clients, 2 from servers. */
  readonly op: 1 | 2
  /** 1 is Ethernet, 32 InfiniBand. */
  readonly htype: number
  readonly hops: number
  readonly xid: number
  readonly secs: number
  readonly flags: number
  readonly ciaddr: Ipv4
  readonly yiaddr: Ipv4
  readonly siaddr: Ipv4
  readonly giaddr: Ipv4
  /** `hlen` bytes, 0 to 16; InfiniBand has none (RFC 4390). */
  readonly chaddr: Uint8Array
  /** `sname` carried options, and no name. */
  readonly isServerNameOverloaded: boolean
  /** `file` carried options, and no name. */
  readonly isFileOverloaded: boolean
  readonly options: readonly DhcpOption[]
  /** Value of option 53; none in plain BOOTP. */
  readonly messageType: number | undefined
}

export type PacketRefusal =
  | 'packet-too-short'
  | 'packet-too-long'
  | 'packet-op-unknown'
  | 'packet-hardware-address-too-long'
  | 'packet-cookie-missing'
  | 'packet-option-truncated'

export type PacketResult =
  | { readonly packet: DhcpPacket }
  | { readonly packet?: undefined; readonly refused: PacketRefusal }

/** Offsets in the BOOTP header. */
export const headerAt = {
  op: 0,
  htype: 1,
  hlen: 2,
  hops: 3,
  xid: 4,
  secs: 8,
  flags: 10,
  ciaddr: 12,
  yiaddr: 16,
  siaddr: 20,
  giaddr: 24,
  chaddr: 28,
  sname: 44,
  file: 108,
  cookie: 236,
  options: 240,
} as const

export const magicCookie = 0x63825363
export const broadcastFlag = 0x8000

const maxHardwareAddressLength = 16
/** No client's message comes near it; what does is not DHCP. */
const maxPacketSizeBytes = 4096

/**
 * Reads any datagram: a packet, or the reason why it is none. Never throws.
 * Missing END and PAD anywhere are accepted; overloaded fields are read as options (RFC 2132 §9.3).
 */
export function decodePacket(datagram: Uint8Array): PacketResult {
  if (datagram.length < headerAt.options) return { refused: 'packet-too-short' }
  if (datagram.length > maxPacketSizeBytes) return { refused: 'packet-too-long' }
  // A plain view: slices of a Buffer are Buffers, which cost three times as much.
  const bytes = new Uint8Array(datagram.buffer, datagram.byteOffset, datagram.length)
  const op = bytes[headerAt.op]
  if (op !== 1 && op !== 2) return { refused: 'packet-op-unknown' }
  const hlen = bytes[headerAt.hlen] as number
  if (hlen > maxHardwareAddressLength) return { refused: 'packet-hardware-address-too-long' }
  if (uint32At(bytes, headerAt.cookie) !== magicCookie) return { refused: 'packet-cookie-missing' }

  const parts: DhcpOption[] = []
  if (!readOptionField(bytes, headerAt.options, bytes.length, parts))
    return { refused: 'packet-option-truncated' }
  const overload = readByte(findOption(parts, optionCode.overload)) ?? 0
  const isFileOverloaded = overload === 1 || overload === 3
  const isServerNameOverloaded = overload === 2 || overload === 3
  // RFC 3396 §5: options field, then file, then sname.
  if (isFileOverloaded && !readOptionField(bytes, headerAt.file, headerAt.cookie, parts))
    return { refused: 'packet-option-truncated' }
  if (isServerNameOverloaded && !readOptionField(bytes, headerAt.sname, headerAt.file, parts))
    return { refused: 'packet-option-truncated' }
  const options = joinRepeatedOptions(parts)

  return {
    packet: {
      bytes,
      op,
      htype: bytes[headerAt.htype] as number,
      hops: bytes[headerAt.hops] as number,
      xid: uint32At(bytes, headerAt.xid),
      secs: uint16At(bytes, headerAt.secs),
      flags: uint16At(bytes, headerAt.flags),
      ciaddr: toIpv4(uint32At(bytes, headerAt.ciaddr)),
      yiaddr: toIpv4(uint32At(bytes, headerAt.yiaddr)),
      siaddr: toIpv4(uint32At(bytes, headerAt.siaddr)),
      giaddr: toIpv4(uint32At(bytes, headerAt.giaddr)),
      chaddr: bytes.subarray(headerAt.chaddr, headerAt.chaddr + hlen),
      isServerNameOverloaded,
      isFileOverloaded,
      options,
      messageType: readByte(findOption(options, optionCode.messageType)),
    },
  }
}

/** The boot file in the header, up to its NUL; empty when the field carried options. */
export function headerFile({ bytes, isFileOverloaded }: DhcpPacket): Uint8Array {
  return isFileOverloaded ? bytes.subarray(0, 0) : untilNul(bytes, headerAt.file, headerAt.cookie)
}

/** The server's name in the header, up to its NUL; empty when the field carried options. */
export function headerServerName({ bytes, isServerNameOverloaded }: DhcpPacket): Uint8Array {
  return isServerNameOverloaded ? bytes.subarray(0, 0) : untilNul(bytes, headerAt.sname, headerAt.file)
}

function untilNul(bytes: Uint8Array, from: number, end: number): Uint8Array {
  const nul = bytes.subarray(from, end).indexOf(0)
  return bytes.subarray(from, nul < 0 ? end : from + nul)
}
