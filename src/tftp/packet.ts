/** Opcodes of RFC 1350 §5 and RFC 2347. */
export const opcodes = { read: 1, write: 2, data: 3, ack: 4, error: 5, oack: 6 } as const

/** Error codes of RFC 1350 appendix and RFC 2347. */
export const errorCodes = {
  undefined: 0,
  fileNotFound: 1,
  accessViolation: 2,
  diskFull: 3,
  illegalOperation: 4,
  unknownTransfer: 5,
  fileExists: 6,
  noSuchUser: 7,
  optionRefused: 8,
} as const

export type TftpErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

export interface TftpError {
  readonly code: TftpErrorCode
  /** ASCII, without control characters, for the console of the machine that asked. */
  readonly message: string
}

/** `mail` is obsolete (RFC 1350 §1) and refused. */
export type TransferMode = 'octet' | 'netascii'

/** An option as it came, its name in lower case (RFC 2347: names are matched without case). */
export interface RequestedOption {
  readonly name: string
  readonly value: string
}

export interface ReadRequest {
  readonly kind: 'read'
  /** The bytes before the first NUL, unjudged; `parseFileName` reads them. */
  readonly rawName: Buffer
  readonly mode: TransferMode
  /** In the order of the packet, each name once. */
  readonly options: readonly RequestedOption[]
}

/** Why a datagram is no packet that we take; `refusalAnswers` says what its sender is told. */
export type PacketRefusal =
  | 'too-short'
  | 'too-long'
  | 'opcode-unknown'
  | 'name-unterminated'
  | 'mode-missing'
  | 'mode-unsupported'

export type TftpPacket =
  | ReadRequest
  | { readonly kind: 'write' }
  | { readonly kind: 'ack'; readonly block: number }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** A client has no reason to send these two; they are told apart to be answered as strangers. */
  | { readonly kind: 'data' | 'oack' }
  | { readonly kind: 'refused'; readonly reason: PacketRefusal }

/** RFC 2347 allows requests of 512 bytes; firmware with long names goes past it, nobody needs more than this. */
const longestRequestBytes = 2048
const longestModeBytes = 16
const mostOptions = 16
const longestOptionBytes = 64
const longestMessageBytes = 128

function refused(reason: PacketRefusal): TftpPacket {
  return { kind: 'refused', reason }
}

/** The end of the NUL-ended text at `start`, or the packet's end where the last NUL is missing. */
function textEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(0, start)
  return end === -1 ? bytes.length : end
}

function asciiText(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end).toLowerCase()
}

/** Pairs after the mode. A name without a value, an over-long pair and a second one of the same name do not count. */
function parseOptions(bytes: Buffer, start: number): readonly RequestedOption[] {
  const options: RequestedOption[] = []
  let at = start
  while (at < bytes.length && options.length < mostOptions) {
    const nameEnd = textEnd(bytes, at)
    const valueStart = nameEnd + 1
    if (valueStart >= bytes.length) break
    const valueEnd = textEnd(bytes, valueStart)
    const name = asciiText(bytes, at, Math.min(nameEnd, at + longestOptionBytes))
    const fits = nameEnd - at <= longestOptionBytes && valueEnd - valueStart <= longestOptionBytes
    if (fits && name !== '' && !options.some((option) => option.name === name)) {
      options.push({ name, value: asciiText(bytes, valueStart, valueEnd) })
    }
    at = valueEnd + 1
  }
  return options
}

function parseRead(bytes: Buffer): TftpPacket {
  if (bytes.length > longestRequestBytes) return refused('too-long')
  const nameEnd = bytes.indexOf(0, 2)
  if (nameEnd === -1) return refused('name-unterminated')
  const modeStart = nameEnd + 1
  const modeEnd = textEnd(bytes, modeStart)
  if (modeEnd === modeStart) return refused('mode-missing')
  if (modeEnd - modeStart > longestModeBytes) return refused('mode-unsupported')
  const mode = asciiText(bytes, modeStart, modeEnd)
  if (mode !== 'octet' && mode !== 'netascii') return refused('mode-unsupported')
  return {
    kind: 'read',
    rawName: bytes.subarray(2, nameEnd),
    mode,
    options: parseOptions(bytes, modeEnd + 1),
  }
}

function printable(bytes: Buffer): string {
  return bytes.toString('latin1', 0, longestMessageBytes).replace(/[^\x20-\x7e]/g, '?')
}

/**
 * Reads any datagram: a packet, or the reason why it is none. Never throws. Mode and option names are matched
 * without case (field cases 62, 63); a missing last NUL is forgiven after the name.
 */
export function parsePacket(bytes: Buffer): TftpPacket {
  if (bytes.length < 4) return refused('too-short')
  switch (bytes.readUInt16BE(0)) {
    case opcodes.ack:
      return { kind: 'ack', block: bytes.readUInt16BE(2) }
    case opcodes.read:
      return parseRead(bytes)
    case opcodes.write:
      return { kind: 'write' }
    case opcodes.error:
      return {
        kind: 'error',
        code: bytes.readUInt16BE(2),
        message: printable(bytes.subarray(4, textEnd(bytes, 4))),
      }
    case opcodes.data:
      return { kind: 'data' }
    case opcodes.oack:
      return { kind: 'oack' }
    default:
      return refused('opcode-unknown')
  }
}

/** What a refused request is told; a datagram that is no request at all gets nothing. */
export const refusalAnswers: Readonly<Record<PacketRefusal, TftpError | undefined>> = {
  'too-short': undefined,
  'opcode-unknown': undefined,
  'too-long': { code: errorCodes.illegalOperation, message: 'the request is too long' },
  'name-unterminated': { code: errorCodes.illegalOperation, message: 'the file name has no end' },
  'mode-missing': { code: errorCodes.illegalOperation, message: 'the transfer mode is missing' },
  'mode-unsupported': { code: errorCodes.illegalOperation, message: 'only octet and netascii are served' },
}

/** An ERROR packet (RFC 1350 §5, figure 5-4). */
export function encodeError({ code, message }: TftpError): Buffer {
  const packet = Buffer.allocUnsafe(5 + message.length)
  packet.writeUInt16BE(opcodes.error, 0)
  packet.writeUInt16BE(code, 2)
  packet.write(message, 4, 'latin1')
  packet[4 + message.length] = 0
  return packet
}

/** An OACK packet (RFC 2347). */
export function encodeOack(options: readonly RequestedOption[]): Buffer {
  const text = options.map(({ name, value }) => `${name}\0${value}\0`).join('')
  const packet = Buffer.allocUnsafe(2 + text.length)
  packet.writeUInt16BE(opcodes.oack, 0)
  packet.write(text, 2, 'latin1')
  return packet
}

/** Bytes before the data of a DATA packet: opcode and block number (RFC 1350 §5, figure 5-2). */
export const dataHeaderBytes = 4

/** Writes the header of a DATA packet in place; `wireBlock` is the 16-bit number. */
export function writeDataHeader(target: Buffer, offset: number, wireBlock: number): void {
  target[offset] = 0
  target[offset + 1] = opcodes.data
  target[offset + 2] = wireBlock >>> 8
  target[offset + 3] = wireBlock & 0xff
}
