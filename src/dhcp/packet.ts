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
  /** All 64 bytes; empty when it carried options. */
  readonly sname: Uint8Array
  /** All 128 bytes; empty when it carried options. */
  readonly file: Uint8Array
  readonly options: readonly DhcpOption[]
  /** Value of option 53; absent in plain BOOTP. */
  readonly messageType?: number
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
const nothing = new Uint8Array(0)

/**
 * Reads any datagram: a packet, or the reason why it is none. Never throws.
 * Missing END and PAD anywhere are accepted; overloaded fields are read as options (RFC 2132 §9.3).
 */
export function decodePacket(bytes: Uint8Array): PacketResult {
  if (bytes.length < headerAt.options) return { refused: 'packet-too-short' }
  if (bytes.length > maxPacketSizeBytes) return { refused: 'packet-too-long' }
  const op = bytes[headerAt.op]
  if (op !== 1 && op !== 2) return { refused: 'packet-op-unknown' }
  const hlen = bytes[headerAt.hlen] as number
  if (hlen > maxHardwareAddressLength) return { refused: 'packet-hardware-address-too-long' }
  if (uint32At(bytes, headerAt.cookie) !== magicCookie) return { refused: 'packet-cookie-missing' }

  const parts: DhcpOption[] = []
  if (!readOptionField(bytes.subarray(headerAt.options), parts)) return { refused: 'packet-option-truncated' }
  const overload = readByte(findOption(parts, optionCode.overload)) ?? 0
  const isFileOverloaded = overload === 1 || overload === 3
  const isServerNameOverloaded = overload === 2 || overload === 3
  const file = bytes.subarray(headerAt.file, headerAt.cookie)
  const sname = bytes.subarray(headerAt.sname, headerAt.file)
  // RFC 3396 §5: options field, then file, then sname.
  if (isFileOverloaded && !readOptionField(file, parts)) return { refused: 'packet-option-truncated' }
  if (isServerNameOverloaded && !readOptionField(sname, parts)) return { refused: 'packet-option-truncated' }
  const options = joinRepeatedOptions(parts)
  const type = readByte(findOption(options, optionCode.messageType))

  return {
    packet: {
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
      sname: isServerNameOverloaded ? nothing : sname,
      file: isFileOverloaded ? nothing : file,
      options,
      ...(type === undefined ? undefined : { messageType: type }),
    },
  }
}
