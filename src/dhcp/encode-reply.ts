import type { Ipv4 } from '../core/ipv4.ts'
import { optionCode } from './option-codes.ts'
import { type DhcpOption, maxOptionLength, readUint16 } from './options.ts'
import { headerAt, magicCookie } from './packet.ts'

/** A message from us to a client, before it is laid out as bytes. */
export interface DhcpReplyPacket {
  readonly htype: number
  readonly xid: number
  readonly flags: number
  readonly ciaddr: Ipv4
  readonly yiaddr: Ipv4
  readonly siaddr: Ipv4
  readonly giaddr: Ipv4
  readonly chaddr: Uint8Array
  /** Goes into `sname`: an address as a dotted quad, or nothing. */
  readonly serverName: string
  /** Goes into `file` (up to 127 bytes) and into option 67; empty: into neither. */
  readonly bootFile: string
  /** In the order in which they are written; 67, 82 and 52 are not among them. */
  readonly options: readonly DhcpOption[]
  /** Option 82 of a relayed request, returned as it came (RFC 3046 §2.2). */
  readonly relayAgentInformation: Uint8Array | undefined
  /** UDP payload that the client takes; see `replySizeLimit`. */
  readonly maxSizeBytes: number
  /** Whether a PAD follows option 67: ROMs that read it as NUL-terminated text need one, old Pi ROMs refuse it. */
  readonly isPaddedAfterBootFile: boolean
}

export type EncodedReply =
  | { readonly bytes: Buffer }
  | { readonly bytes?: undefined; readonly refused: 'reply-too-long' }

/** BOOTP messages are at least this long (RFC 1542 §2.1); some relays and ROMs drop shorter ones. */
const minSizeBytes = 300
/** What an Ethernet frame holds; UEFI asks for 65280, but a fragmented offer reaches few ROMs. */
const maxDatagramBytes = 1472
const ipAndUdpHeaderBytes = 28
const smallestMaximumMessageSize = 576
export const maxFileFieldLength = 127
const fileFieldSize = 128
const serverNameFieldSize = 64

/** How many bytes of UDP payload a reply may have, from the client's option 57 (RFC 2132 §9.10). */
export function replySizeLimit(maximumMessageSize: Uint8Array | undefined): number {
  const asked = readUint16(maximumMessageSize) ?? smallestMaximumMessageSize
  return Math.min(Math.max(asked, smallestMaximumMessageSize) - ipAndUdpHeaderBytes, maxDatagramBytes)
}

/**
 * Lays a reply out. The tail is fixed by real firmware: option 67 last of our own options, because EDK2 writes a NUL
 * over the byte that follows it (field case 25), then PAD, because other ROMs read on to the next NUL (24), then
 * option 82, which relays want last (36), then END. Options are moved into `sname` and `file` (option 52) only when
 * the packet would be longer than the client takes (27).
 */
export function encodeReply(reply: DhcpReplyPacket): EncodedReply {
  const size = headerAt.options + encodedLength(reply.options) + tailLength(reply)
  if (size > reply.maxSizeBytes) return encodeOverloaded(reply)
  const bytes = startReply(reply, Math.max(size, minSizeBytes))
  if (reply.bootFile.length <= maxFileFieldLength) writeText(reply.bootFile, bytes, headerAt.file)
  writeText(reply.serverName, bytes, headerAt.sname)
  writeTail(reply, bytes, writeOptions(reply.options, bytes, headerAt.options))
  return { bytes }
}

/** `sname` is given up first, since option 66 says the same; `file` only then, since shim and GRUB read it (26). */
function encodeOverloaded(reply: DhcpReplyPacket): EncodedReply {
  const overloadOptionLength = 3
  const room = reply.maxSizeBytes - headerAt.options - tailLength(reply) - overloadOptionLength
  const main = fill(reply.options, room)
  const inServerName = fill(main.left, serverNameFieldSize - 1)
  const inFile = fill(inServerName.left, fileFieldSize - 1)
  if (inFile.left.length > 0) return { refused: 'reply-too-long' }
  const usesFile = inFile.taken.length > 0

  const options = [
    ...main.taken,
    {
      code: optionCode.overload,
      data: Uint8Array.of((usesFile ? 1 : 0) + (inServerName.taken.length > 0 ? 2 : 0)),
    },
  ]
  const size = headerAt.options + encodedLength(options) + tailLength(reply)
  const bytes = startReply(reply, Math.max(size, minSizeBytes))
  bytes[writeOptions(inServerName.taken, bytes, headerAt.sname)] = optionCode.end
  if (usesFile) bytes[writeOptions(inFile.taken, bytes, headerAt.file)] = optionCode.end
  else if (reply.bootFile.length <= maxFileFieldLength) writeText(reply.bootFile, bytes, headerAt.file)
  writeTail(reply, bytes, writeOptions(options, bytes, headerAt.options))
  return { bytes }
}

/** Takes options in order as long as they fit whole; what does not fit is left for the next field. */
function fill(options: readonly DhcpOption[], room: number): { taken: DhcpOption[]; left: DhcpOption[] } {
  const taken: DhcpOption[] = []
  const left: DhcpOption[] = []
  let free = room
  for (const option of options) {
    const length = optionLength(option.data.length)
    if (length > free) left.push(option)
    else {
      taken.push(option)
      free -= length
    }
  }
  return { taken, left }
}

function startReply(reply: DhcpReplyPacket, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size).fill(0)
  bytes[headerAt.op] = 2
  bytes[headerAt.htype] = reply.htype
  bytes[headerAt.hlen] = reply.chaddr.length
  putUint32(bytes, headerAt.xid, reply.xid)
  bytes[headerAt.flags] = reply.flags >>> 8
  bytes[headerAt.flags + 1] = reply.flags
  putUint32(bytes, headerAt.ciaddr, reply.ciaddr)
  putUint32(bytes, headerAt.yiaddr, reply.yiaddr)
  putUint32(bytes, headerAt.siaddr, reply.siaddr)
  putUint32(bytes, headerAt.giaddr, reply.giaddr)
  bytes.set(reply.chaddr, headerAt.chaddr)
  putUint32(bytes, headerAt.cookie, magicCookie)
  return bytes
}

function writeOptions(options: readonly DhcpOption[], bytes: Buffer, start: number): number {
  let at = start
  for (const { code, data } of options) at = writeOption(code, data, bytes, at)
  return at
}

/** Values beyond 255 bytes are split over several instances (RFC 3396 §6). */
function writeOption(code: number, data: Uint8Array, bytes: Buffer, start: number): number {
  let at = start
  let from = 0
  do {
    const length = Math.min(data.length - from, maxOptionLength)
    bytes[at] = code
    bytes[at + 1] = length
    // A loop, because most values are a few bytes and `set` with a view costs more than copying them.
    for (let index = 0; index < length; index++) bytes[at + 2 + index] = data[from + index] as number
    at += 2 + length
    from += length
  } while (from < data.length)
  return at
}

function writeTail(reply: DhcpReplyPacket, bytes: Buffer, start: number): void {
  let at = start
  if (reply.bootFile !== '') {
    at = writeBootFileName(reply.bootFile, bytes, at)
    if (reply.isPaddedAfterBootFile) bytes[at++] = optionCode.pad
  }
  if (reply.relayAgentInformation !== undefined)
    at = writeOption(optionCode.relayAgentInformation, reply.relayAgentInformation, bytes, at)
  bytes[at] = optionCode.end
}

function writeBootFileName(bootFile: string, bytes: Buffer, at: number): number {
  if (bootFile.length > maxOptionLength)
    return writeOption(optionCode.bootFileName, Buffer.from(bootFile, 'latin1'), bytes, at)
  bytes[at] = optionCode.bootFileName
  bytes[at + 1] = bootFile.length
  writeText(bootFile, bytes, at + 2)
  return at + 2 + bootFile.length
}

/** A loop, because a call into the runtime for a few characters costs more. */
function writeText(text: string, bytes: Buffer, at: number): void {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index)
}

function tailLength({ bootFile, isPaddedAfterBootFile, relayAgentInformation }: DhcpReplyPacket): number {
  const bootFileLength = bootFile === '' ? 0 : optionLength(bootFile.length) + (isPaddedAfterBootFile ? 1 : 0)
  const relayLength = relayAgentInformation === undefined ? 0 : optionLength(relayAgentInformation.length)
  return bootFileLength + relayLength + 1
}

function encodedLength(options: readonly DhcpOption[]): number {
  let length = 0
  for (const { data } of options) length += optionLength(data.length)
  return length
}

function optionLength(valueLength: number): number {
  return valueLength + 2 * Math.max(1, Math.ceil(valueLength / maxOptionLength))
}

function putUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
