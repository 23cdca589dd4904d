import type { Ipv4 } from '../../core/ipv4.ts'
import type { MacAddress } from '../../core/mac.ts'
import { messageType, optionCode } from '../../dhcp/option-codes.ts'
import {
  byteOption,
  type DhcpOption,
  findOption,
  readIpv4,
  readText,
  textOption,
  uint16Option,
} from '../../dhcp/options.ts'
import { broadcastFlag, decodePacket, headerAt, headerFile, magicCookie } from '../../dhcp/packet.ts'

/** What a machine asks by DHCP when it network-boots. */
export interface DhcpQuestion {
  readonly xid: number
  readonly mac: MacAddress
  /** Option 93: 0 BIOS, 7 UEFI x64 by PXE, 16 UEFI x64 by HTTP. */
  readonly architecture: number
  readonly bootClass?: 'PXEClient' | 'HTTPClient'
  /** An iPXE asks, which wants its script. */
  readonly isIpxe?: boolean
}

/** An answer, as far as it says how to boot; texts are printable. */
export interface DhcpReply {
  readonly type: 'offer' | 'acknowledge'
  /** Who gives it, by option 54. */
  readonly server?: Ipv4
  /** The address for the client; absent in answers of a proxy. */
  readonly address?: Ipv4
  readonly nextServer?: Ipv4
  readonly bootFile?: string
  readonly vendorClass?: string
  /** Option 43, raw. */
  readonly vendorSpecific?: Uint8Array
}

const minSizeBytes = 300
/** What boot clients ask for: mask, router, names, 43, 51, 54, 60, 66, 67, 97. */
const wanted = [1, 3, 6, 15, 43, 51, 54, 60, 66, 67, 97] as const

/** A DISCOVER as firmware sends it (field cases, client table), with the broadcast flag set. */
export function encodeDiscover({
  xid,
  mac,
  architecture,
  bootClass = 'PXEClient',
  isIpxe = false,
}: DhcpQuestion): Buffer {
  const hardwareAddress = Buffer.from(mac.replaceAll(':', ''), 'hex')
  const digits = String(architecture).padStart(5, '0')
  const options: readonly DhcpOption[] = [
    byteOption(optionCode.messageType, messageType.discover),
    uint16Option(optionCode.maximumMessageSize, 1472),
    { code: optionCode.parameterRequestList, data: Uint8Array.from(wanted) },
    textOption(optionCode.vendorClass, `${bootClass}:Arch:${digits}:UNDI:003000`),
    uint16Option(optionCode.clientArchitecture, architecture),
    { code: optionCode.clientMachineIdentifier, data: machineId(hardwareAddress) },
    ...(isIpxe ? [textOption(optionCode.userClass, 'iPXE')] : []),
  ]
  const tail = Buffer.concat([
    ...options.map(({ code, data }) => Buffer.concat([Buffer.of(code, data.length), data])),
    Buffer.of(optionCode.end),
  ])
  const bytes = Buffer.alloc(Math.max(headerAt.options + tail.length, minSizeBytes))
  bytes[headerAt.op] = 1
  bytes[headerAt.htype] = 1
  bytes[headerAt.hlen] = hardwareAddress.length
  bytes.writeUInt32BE(xid, headerAt.xid)
  bytes.writeUInt16BE(broadcastFlag, headerAt.flags)
  bytes.set(hardwareAddress, headerAt.chaddr)
  bytes.writeUInt32BE(magicCookie, headerAt.cookie)
  bytes.set(tail, headerAt.options)
  return bytes
}

/** Option 97: type 0 and a UUID, here one that is made from the MAC. */
function machineId(hardwareAddress: Buffer): Uint8Array {
  const uuid = Buffer.from('9d1c0a5e000040008000000000000000', 'hex')
  uuid.set(hardwareAddress, 10)
  return Buffer.concat([Buffer.of(0), uuid])
}

/** Reads an OFFER or ACK for this `xid`; `undefined` for whatever else. Never throws. */
export function readDhcpReply(bytes: Uint8Array, xid: number): DhcpReply | undefined {
  const { packet } = decodePacket(bytes)
  if (packet === undefined || packet.op !== 2 || packet.xid !== xid) return undefined
  const type = replyTypes[packet.messageType ?? 0]
  if (type === undefined) return undefined
  const { options, yiaddr, siaddr } = packet
  const server = readIpv4(findOption(options, optionCode.serverIdentifier))
  const bootFile = readText(headerFile(packet)) || readText(findOption(options, optionCode.bootFileName))
  const vendorClass = readText(findOption(options, optionCode.vendorClass))
  const vendorSpecific = findOption(options, optionCode.vendorSpecific)
  return {
    type,
    ...(server === undefined ? {} : { server }),
    ...(yiaddr === 0 ? {} : { address: yiaddr }),
    ...(siaddr === 0 ? {} : { nextServer: siaddr }),
    ...(bootFile ? { bootFile } : {}),
    ...(vendorClass === undefined ? {} : { vendorClass }),
    ...(vendorSpecific === undefined ? {} : { vendorSpecific: Uint8Array.from(vendorSpecific) }),
  }
}

const replyTypes: Readonly<Record<number, DhcpReply['type']>> = {
  [messageType.offer]: 'offer',
  [messageType.acknowledge]: 'acknowledge',
}
