import { createMessage, enums, PacketList, readSignature, Signature, SignaturePacket, verify } from 'openpgp'
import type { TrustedKey } from './trusted-keys.ts'

/** What a detached signature says of a file. */
export type SignatureVerdict =
  | { readonly kind: 'good'; readonly keyId: string }
  /** A trusted key signed, and it was not this file. */
  | { readonly kind: 'wrong'; readonly keyId: string; readonly why: string }
  | { readonly kind: 'key-expired'; readonly keyId: string; readonly why: string }
  /** Nobody we trust signed in a way we trust; nothing is said about the file. */
  | { readonly kind: 'untrusted'; readonly keyId: string; readonly why: string }
  /** Not an OpenPGP signature at all. */
  | { readonly kind: 'unreadable'; readonly why: string }

/** Hashes prefix, the file, and suffix. */
export type HashSignedFile = (
  algorithm: string,
  prefix: Uint8Array,
  suffix: Uint8Array,
) => Promise<Uint8Array>

/** MD5, SHA-1 and RIPEMD-160 prove nothing any more. */
const hashNames: Readonly<Record<number, string>> = {
  [enums.hash.sha256]: 'sha256',
  [enums.hash.sha384]: 'sha384',
  [enums.hash.sha512]: 'sha512',
  [enums.hash.sha224]: 'sha224',
  [enums.hash.sha3_256]: 'sha3-256',
  [enums.hash.sha3_512]: 'sha3-512',
}

/** More signatures than anybody puts into a file; each one costs a pass over it. */
const mostPackets = 4

/**
 * Checks a detached signature, armored or binary (RFC 9580 §10.4), without ever holding the file in memory: we hash it
 * in blocks and leave to the library what the hash has to be. One good signature by a trusted key is enough; a key
 * that has expired by now counts for nothing, whenever it signed (field case 139).
 */
export async function verifySignature(options: {
  readonly signature: Uint8Array
  readonly keys: readonly TrustedKey[]
  /** Ms since the epoch. */
  readonly now: number
  readonly hash: HashSignedFile
}): Promise<SignatureVerdict> {
  let signature: Signature
  try {
    signature = await parseSignature(options.signature)
  } catch (error) {
    return { kind: 'unreadable', why: reasonOf(error) }
  }
  const packets = [...signature.packets].filter((packet) => packet instanceof SignaturePacket)
  if (packets.length === 0) return { kind: 'unreadable', why: 'there is no signature in it' }
  const verdicts: SignatureVerdict[] = []
  for (const packet of packets.slice(0, mostPackets)) verdicts.push(await judgePacket(packet, options))
  const weight = ['good', 'wrong', 'key-expired', 'untrusted', 'unreadable']
  verdicts.sort((left, right) => weight.indexOf(left.kind) - weight.indexOf(right.kind))
  return verdicts[0] ?? { kind: 'unreadable', why: 'there is no signature in it' }
}

async function parseSignature(bytes: Uint8Array): Promise<Signature> {
  const text = Buffer.from(bytes).toString('latin1').trimStart()
  return text.startsWith('-----BEGIN PGP SIGNATURE')
    ? readSignature({ armoredSignature: text })
    : readSignature({ binarySignature: bytes })
}

interface Judging {
  readonly keys: readonly TrustedKey[]
  readonly now: number
  readonly hash: HashSignedFile
}

async function judgePacket(packet: SignaturePacket, { keys, now, hash }: Judging): Promise<SignatureVerdict> {
  const keyId = packet.issuerKeyID.toHex().toUpperCase()
  const trusted = keys.find(({ key }) => key.getKeys(packet.issuerKeyID).length > 0)
  if (!trusted) return { kind: 'untrusted', keyId, why: `key ${keyId} is not among the trusted keys` }
  if (packet.signatureType !== enums.signature.binary) {
    return { kind: 'untrusted', keyId, why: 'it is not a signature over a binary file' }
  }
  const algorithm = hashNames[packet.hashAlgorithm ?? -1]
  const prefix = saltOf(packet)
  if (algorithm === undefined || prefix === undefined) {
    return { kind: 'untrusted', keyId, why: `it uses hash algorithm ${packet.hashAlgorithm}` }
  }
  // What the library would compute itself if it had the file in memory; it reads this property when it verifies
  // messages as they stream. If it ever stops, the digest of the empty message below cannot match: it fails closed.
  Object.assign(packet, { hashed: Promise.resolve(await hash(algorithm, prefix, trailerOf(packet))) })
  const date = new Date(now)
  const only = new PacketList<SignaturePacket>()
  only.push(packet)
  const { signatures } = await verify({
    message: await createMessage({ binary: new Uint8Array() }),
    signature: new Signature(only),
    verificationKeys: trusted.key,
    format: 'binary',
    date,
  })
  try {
    await signatures[0]?.verified
  } catch (error) {
    return judgeFailure(trusted, keyId, now, reasonOf(error))
  }
  if (signatures.length !== 1) return { kind: 'untrusted', keyId, why: 'nothing was verified' }
  return (await whyNotNow(trusted, packet, now)) ?? { kind: 'good', keyId }
}

/** RFC 9580 §5.2.4: the hashed part of the signature itself, then version, 0xFF and its length. */
function trailerOf({ version, signatureData }: SignaturePacket): Uint8Array {
  const data = signatureData ?? new Uint8Array()
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  // Version 5 never became a standard; GnuPG writes it, with room for metadata and a longer count.
  const isV5 = version === 5
  return Buffer.concat([
    data,
    Buffer.alloc(isV5 ? 6 : 0),
    Buffer.from([version, 0xff]),
    Buffer.alloc(isV5 ? 4 : 0),
    length,
  ])
}

/** Version 6 hashes a salt first; its length is fixed by the hash algorithm (RFC 9580 §5.2.3). */
function saltOf(packet: SignaturePacket): Uint8Array | undefined {
  if (packet.version !== 6) return new Uint8Array()
  const { salt } = packet as SignaturePacket & { readonly salt?: Uint8Array }
  return salt
}

function judgeFailure(trusted: TrustedKey, keyId: string, now: number, why: string): SignatureVerdict {
  // The library's own words for "the mathematics say no". Should they change, nothing is accepted that was not before.
  if (/digest did not match|verification failed/i.test(why)) return { kind: 'wrong', keyId, why }
  const isExpired = trusted.expiresAt !== undefined && trusted.expiresAt <= now
  if (isExpired || /key is expired/i.test(why)) return { kind: 'key-expired', keyId, why }
  return { kind: 'untrusted', keyId, why }
}

/** The signature was good when it was made; the key must be good today as well. */
async function whyNotNow(
  { key, expiresAt }: TrustedKey,
  packet: SignaturePacket,
  now: number,
): Promise<SignatureVerdict | undefined> {
  const keyId = packet.issuerKeyID.toHex().toUpperCase()
  if (expiresAt !== undefined && expiresAt <= now) {
    return {
      kind: 'key-expired',
      keyId,
      why: `it expired on ${new Date(expiresAt).toISOString().slice(0, 10)}`,
    }
  }
  try {
    await key.getSigningKey(packet.issuerKeyID, new Date(now))
    return undefined
  } catch (error) {
    const why = reasonOf(error)
    return { kind: /expired/i.test(why) ? 'key-expired' : 'untrusted', keyId, why }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
