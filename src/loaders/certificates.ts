import { X509Certificate } from 'node:crypto'
import { slice, u16, u32 } from './byte-reader.ts'
import { type DerElement, derElements, derTag, readDer } from './der.ts'

const headerSize = 8
const pkcsSignedData = 2
const maxEntries = 16

/**
 * The certificates that signed an image, one for each signature in its certificate table (PE/COFF "attribute
 * certificate table", PKCS #7 in RFC 2315 §9). Says who signed, not whether the signature is good: that is for the
 * firmware and shim to check.
 */
export function signerCertificates(table: Buffer): readonly X509Certificate[] {
  const signers: X509Certificate[] = []
  let offset = 0
  for (let entry = 0; entry < maxEntries; entry += 1) {
    const length = u32(table, offset)
    if (length === undefined || length <= headerSize) break
    const data = slice(table, offset + headerSize, length - headerSize)
    if (data === undefined) break
    if (u16(table, offset + 6) === pkcsSignedData) signers.push(...signersOf(data))
    offset += Math.ceil(length / 8) * 8
  }
  return signers
}

/** ContentInfo → SignedData → for each SignerInfo the certificate with its issuer and serial number. */
function signersOf(data: Buffer): readonly X509Certificate[] {
  const contentInfo = readDer(data)
  const wrapped = childOf(contentInfo, derTag.context0)
  const signedData = derElements(childOf(wrapped, derTag.sequence)?.content ?? Buffer.alloc(0))
  const certificates = derElements(
    signedData.find(({ tag }) => tag === derTag.context0)?.content ?? Buffer.alloc(0),
  )
  // digestAlgorithms is the first SET, signerInfos the last one.
  const signerInfos = derElements(
    signedData.findLast(({ tag }) => tag === derTag.set)?.content ?? Buffer.alloc(0),
  )
  return signerInfos.flatMap((info) => {
    const [, issuerAndSerial] = derElements(info.content)
    const signer = certificates.find((certificate) => isNamed(certificate, issuerAndSerial))
    return signer === undefined ? [] : readCertificate(signer.whole)
  })
}

function childOf(parent: DerElement | undefined, tag: number): DerElement | undefined {
  return derElements(parent?.content ?? Buffer.alloc(0)).find((element) => element.tag === tag)
}

/** Whether a certificate has the issuer and the serial number that a SignerInfo names. */
function isNamed(certificate: DerElement, issuerAndSerial: DerElement | undefined): boolean {
  const [issuer, serial] = derElements(issuerAndSerial?.content ?? Buffer.alloc(0))
  const toBeSigned = childOf(certificate, derTag.sequence)
  const fields = derElements(toBeSigned?.content ?? Buffer.alloc(0))
  const [first, ...others] = fields
  // version [0] may come before serialNumber, signature, issuer.
  const [serialField, , issuerField] = first?.tag === derTag.context0 ? others : fields
  return (
    issuer !== undefined &&
    serial !== undefined &&
    serialField?.whole.equals(serial.whole) === true &&
    issuerField?.whole.equals(issuer.whole) === true
  )
}

/** One certificate in DER, or nothing when it cannot be read. */
function readCertificate(der: Buffer): readonly X509Certificate[] {
  try {
    return [new X509Certificate(der)]
  } catch {
    return []
  }
}

/** `a5c059a1-94e4-4aa7-87b5-ab155c2bf072` as UEFI writes it: the type of signature lists that hold certificates. */
const certificateListType = Buffer.from('a159c0a5e494a74a87b5ab155c2bf072', 'hex')
const listHeaderSize = 28
const ownerSize = 16

/**
 * The certificates that a shim trusts besides those of the firmware. Its section `.vendor_cert` begins with size and
 * offset of one certificate, or of EFI signature lists (shim `cert.S`; UEFI specification, "Signature Database").
 */
export function vendorCertificates(section: Buffer): readonly X509Certificate[] {
  const trusted = slice(section, u32(section, 8) ?? 0, u32(section, 0) ?? 0)
  if (trusted === undefined) return []
  if (trusted[0] === derTag.sequence) return readCertificate(readDer(trusted)?.whole ?? trusted)
  return certificatesOfLists(trusted)
}

function certificatesOfLists(lists: Buffer): readonly X509Certificate[] {
  const found: X509Certificate[] = []
  let offset = 0
  for (let list = 0; list < maxEntries; list += 1) {
    const size = u32(lists, offset + 16)
    const entrySize = u32(lists, offset + 24)
    if (size === undefined || entrySize === undefined || size < listHeaderSize || entrySize <= ownerSize)
      break
    const isOfCertificates = slice(lists, offset, 16)?.equals(certificateListType) === true
    const start = offset + listHeaderSize + (u32(lists, offset + 20) ?? 0)
    for (let at = start; isOfCertificates && at + entrySize <= offset + size; at += entrySize) {
      const der = slice(lists, at + ownerSize, entrySize - ownerSize)
      if (der === undefined || found.length >= maxEntries) break
      found.push(...readCertificate(der))
    }
    offset += size
  }
  return found
}

/** The common name of a certificate's subject; the whole subject where it has none. */
export function subjectName({ subject }: X509Certificate): string {
  return commonName(subject)
}

export function issuerName({ issuer }: X509Certificate): string {
  return commonName(issuer)
}

function commonName(name: string | undefined): string {
  const text = name ?? ''
  return /^CN=(.*)$/m.exec(text)?.[1] ?? text.replaceAll('\n', ', ')
}
