import { slice, u16, u32 } from './byte-reader.ts'

/** What a PE image says of itself (PE/COFF specification: file headers, optional header, section table). */
export interface PeImage {
  readonly machine: number
  readonly subsystem: number
  /** Raw bytes of the sections by name, without the padding that links add. */
  readonly sections: ReadonlyMap<string, Buffer>
  /** The attribute certificate table; empty for an image that nobody signed. */
  readonly certificates: Buffer
}

/** UEFI application, boot service driver, runtime driver: what firmware starts. */
export const efiSubsystems: ReadonlySet<number> = new Set([10, 11, 12])

const dosHeaderSize = 64
const peOffsetAt = 0x3c
const coffHeaderSize = 24
const sectionHeaderSize = 40
const symbolSize = 18
const longestSectionName = 64
const maxSections = 96
const pe32 = 0x10b
const pe32Plus = 0x20b
/** Index of the certificate table among the data directories. */
const certificateDirectory = 4

/** Reads the headers of a PE image; `undefined` for bytes that are none. Never throws, whatever the bytes. */
export function readPeImage(bytes: Buffer): PeImage | undefined {
  if (bytes.length < dosHeaderSize || bytes.toString('latin1', 0, 2) !== 'MZ') return undefined
  const pe = u32(bytes, peOffsetAt) ?? 0
  const header = slice(bytes, pe, coffHeaderSize)
  if (header === undefined || header.toString('latin1', 0, 4) !== 'PE\0\0') return undefined
  const machine = header.readUInt16LE(4)
  const sectionCount = Math.min(header.readUInt16LE(6), maxSections)
  const optionalSize = header.readUInt16LE(20)
  const optional = slice(bytes, pe + coffHeaderSize, optionalSize)
  const magic = optional === undefined ? undefined : u16(optional, 0)
  if (optional === undefined || (magic !== pe32 && magic !== pe32Plus)) return undefined
  return {
    machine,
    subsystem: u16(optional, 68) ?? 0,
    sections: readSections(bytes, pe + coffHeaderSize + optionalSize, sectionCount, longNames(bytes, header)),
    certificates: readCertificates(bytes, optional, magic === pe32 ? 96 : 112),
  }
}

/** Names of more than eight characters stand behind the symbols; shim's `.vendor_cert` does. */
function longNames(bytes: Buffer, header: Buffer): Buffer {
  const symbols = header.readUInt32LE(12)
  const start = symbols + header.readUInt32LE(16) * symbolSize
  return symbols === 0 || start > bytes.length ? Buffer.alloc(0) : bytes.subarray(start)
}

function sectionName(short: string, names: Buffer): string {
  const offset = /^\/([0-9]{1,7})$/.exec(short)?.[1]
  return offset === undefined ? short : textAt(names, Number(offset), longestSectionName)
}

function textAt(bytes: Buffer, offset: number, longest: number): string {
  const text = bytes.toString('latin1', offset, offset + longest)
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}

function readSections(
  bytes: Buffer,
  start: number,
  count: number,
  names: Buffer,
): ReadonlyMap<string, Buffer> {
  const sections = new Map<string, Buffer>()
  for (let index = 0; index < count; index += 1) {
    const header = slice(bytes, start + index * sectionHeaderSize, sectionHeaderSize)
    if (header === undefined) break
    const name = sectionName(textAt(header, 0, 8), names)
    const virtualSize = header.readUInt32LE(8)
    const rawSize = header.readUInt32LE(16)
    const size = virtualSize === 0 ? rawSize : Math.min(virtualSize, rawSize)
    const content = slice(bytes, header.readUInt32LE(20), size)
    if (content !== undefined && !sections.has(name)) sections.set(name, content)
  }
  return sections
}

/** The one data directory whose address is an offset in the file. */
function readCertificates(bytes: Buffer, optional: Buffer, directories: number): Buffer {
  const entry = directories + certificateDirectory * 8
  const count = u32(optional, directories - 4) ?? 0
  const offset = u32(optional, entry) ?? 0
  const size = u32(optional, entry + 4) ?? 0
  if (count <= certificateDirectory || size === 0) return Buffer.alloc(0)
  return slice(bytes, offset, size) ?? Buffer.alloc(0)
}
