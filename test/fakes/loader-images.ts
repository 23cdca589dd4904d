import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export interface PeSketch {
  readonly machine?: number
  /** 10: EFI application. */
  readonly subsystem?: number
  readonly sections?: Readonly<Record<string, Buffer | string>>
  /** Who signed it: certificates as `signedBy` makes them. */
  readonly certificates?: Buffer
  /** 32-bit images have another optional header. */
  readonly is32Bit?: boolean
}

const headerBytes = 0x400

/** The smallest PE image that has what a loader has: headers, sections with long names, a certificate table. */
export function makePe(sketch: PeSketch = {}): Buffer {
  const { machine = 0x8664, subsystem = 10, sections = {}, certificates = Buffer.alloc(0) } = sketch
  const isSmall = sketch.is32Bit === true
  const optionalSize = isSmall ? 224 : 240
  const directories = isSmall ? 96 : 112
  const contents = Object.entries(sections).map(([name, content]) => ({
    name,
    bytes: Buffer.isBuffer(content) ? content : Buffer.from(content, 'latin1'),
  }))
  const header = Buffer.alloc(headerBytes)
  header.write('MZ', 0, 'latin1')
  header.writeUInt32LE(0x80, 0x3c)
  header.write('PE\0\0', 0x80, 'latin1')
  header.writeUInt16LE(machine, 0x84)
  header.writeUInt16LE(contents.length, 0x86)
  header.writeUInt16LE(optionalSize, 0x94)
  header.writeUInt16LE(isSmall ? 0x10b : 0x20b, 0x98)
  header.writeUInt16LE(subsystem, 0x98 + 68)
  header.writeUInt32LE(16, 0x98 + directories - 4)

  const names: Buffer[] = [Buffer.alloc(4)]
  const bodies: Buffer[] = []
  let at = headerBytes
  contents.forEach(({ name, bytes }, index) => {
    const entry = 0x98 + optionalSize + index * 40
    const isLong = name.length > 8
    header.write(isLong ? `/${Buffer.concat(names).length}` : name, entry, 'latin1')
    if (isLong) names.push(Buffer.from(`${name}\0`, 'latin1'))
    header.writeUInt32LE(bytes.length, entry + 8)
    header.writeUInt32LE(bytes.length, entry + 16)
    header.writeUInt32LE(at, entry + 20)
    bodies.push(bytes)
    at += bytes.length
  })
  // No symbols, and behind them the string table.
  header.writeUInt32LE(at, 0x80 + 12)
  const table = Buffer.concat(names)
  const padding = Buffer.alloc((8 - ((at + table.length) % 8)) % 8)
  if (certificates.length > 0) {
    header.writeUInt32LE(at + table.length + padding.length, 0x98 + directories + 32)
    header.writeUInt32LE(certificates.length, 0x98 + directories + 36)
  }
  return Buffer.concat([header, ...bodies, table, padding, certificates])
}

const tlsFixtures = resolve(import.meta.dirname, '../fixtures/tls')
const readCertificate = (file: string) => new X509Certificate(readFileSync(resolve(tlsFixtures, file)))

/** A self-signed authority, and a certificate that it issued: what they certify does not matter here. */
export const testAuthority = readCertificate('ca.pem')
export const testSigner = readCertificate('server.pem')

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** The parts of a DER element, one after the other. */
function children(element: Buffer): readonly Buffer[] {
  const found: Buffer[] = []
  const start = (bytes: Buffer) => ((bytes[1] ?? 0) < 0x80 ? 2 : 2 + ((bytes[1] ?? 0) & 0x7f))
  const lengthOf = (bytes: Buffer) =>
    (bytes[1] ?? 0) < 0x80 ? (bytes[1] ?? 0) : bytes.readUIntBE(2, (bytes[1] ?? 0) & 0x7f)
  let rest = element.subarray(start(element), start(element) + lengthOf(element))
  while (rest.length > 0) {
    const size = start(rest) + lengthOf(rest)
    found.push(rest.subarray(0, size))
    rest = rest.subarray(size)
  }
  return found
}

/** One entry of a certificate table: PKCS #7 signed data that names its signer; the signature itself is empty. */
export function signedBy(signer: X509Certificate, ...others: readonly X509Certificate[]): Buffer {
  const [toBeSigned = Buffer.alloc(0)] = children(signer.raw)
  const [, serial = Buffer.alloc(0), , issuer = Buffer.alloc(0)] = children(toBeSigned)
  const version = der(0x02, Buffer.of(1))
  const signedData = der(
    0x30,
    version,
    der(0x31),
    der(0x30),
    der(0xa0, ...others.map(({ raw }) => raw), signer.raw),
    der(0x31, der(0x30, version, der(0x30, issuer, serial), der(0x30), der(0x30), der(0x04))),
  )
  const data = der(0x30, der(0x06, Buffer.from('2a864886f70d010702', 'hex')), der(0xa0, signedData))
  const header = Buffer.alloc(8)
  header.writeUInt32LE(8 + data.length, 0)
  header.writeUInt16LE(0x0200, 4)
  header.writeUInt16LE(2, 6)
  return Buffer.concat([header, data, Buffer.alloc((8 - (data.length % 8)) % 8)])
}

/** shim's `.vendor_cert` section around one certificate. */
export function vendorSection(authority: X509Certificate): Buffer {
  return vendorTable(authority.raw)
}

/** The same as an EFI signature list, as shims with several authorities have it. */
export function vendorListSection(...authorities: readonly X509Certificate[]): Buffer {
  const lists = authorities.map(({ raw }) => {
    const list = Buffer.alloc(28 + 16)
    Buffer.from('a159c0a5e494a74a87b5ab155c2bf072', 'hex').copy(list)
    list.writeUInt32LE(28 + 16 + raw.length, 16)
    list.writeUInt32LE(16 + raw.length, 24)
    return Buffer.concat([list, raw])
  })
  return vendorTable(Buffer.concat(lists))
}

function vendorTable(content: Buffer): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(content.length, 0)
  header.writeUInt32LE(16, 8)
  return Buffer.concat([header, content])
}

const sbat = (component: string, version: string) =>
  `sbat,1,SBAT Version,sbat,1,https://x.example\n${component},1,Vendor,${component},${version},https://x.example\n`

/** A signed shim that trusts the test authority. */
export function makeShim(sketch: PeSketch = {}): Buffer {
  return makePe({
    certificates: signedBy(testAuthority),
    ...sketch,
    sections: {
      '.sbat': sbat('shim', '1'),
      '.vendor_cert': vendorSection(testAuthority),
      ...sketch.sections,
    },
  })
}

/** A GRUB that the test authority's signer has signed. */
export function makeGrub(sketch: PeSketch & { readonly version?: string } = {}): Buffer {
  const { version = '2.12-9', ...pe } = sketch
  return makePe({
    certificates: signedBy(testSigner, testAuthority),
    ...pe,
    sections: { '.sbat': sbat('grub', version), mods: '\0http\0tftp\0', ...pe.sections },
  })
}

/** An iPXE for UEFI, with the words that its commands and URL schemes leave in the bytes. */
export function makeIpxe(sketch: PeSketch & { readonly words?: readonly string[] } = {}): Buffer {
  const { words = ['http'], ...pe } = sketch
  const text = ['iPXE/%s', '1.21.1+ (g1234)', ...words].map((word) => `\0${word}\0`).join('')
  return makePe({ ...pe, sections: { '.rodata': text, ...pe.sections } })
}

/** A BIOS boot program: a jump, then what its kind is known by. */
export function makeBiosProgram(text: string): Buffer {
  return Buffer.concat([Buffer.from([0xea, 0x05, 0x00, 0xc0, 0x07]), Buffer.from(text, 'latin1')])
}
