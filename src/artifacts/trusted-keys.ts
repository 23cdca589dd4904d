import type { Key } from 'openpgp'
import { ServiceError } from '../core/errors.ts'

/** An OpenPGP public key that an admin trusts to sign artifacts. */
export interface TrustedKey {
  /** Upper-case hex, the last 16 digits of the fingerprint. */
  readonly id: string
  /** Its first user id, for people. */
  readonly name: string
  /** Ms since the epoch; absent when it never expires. */
  readonly expiresAt?: number
  readonly key: Key
}

export interface KeyWarning {
  readonly id: string
  readonly name: string
  readonly expiresAt: number
  readonly isExpired: boolean
}

const warnAheadMs = 30 * 24 * 60 * 60 * 1000
const armorBlock = /-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]*?-----END PGP PUBLIC KEY BLOCK-----/g

/**
 * Reads key files, armored (any number of blocks in a text) or binary.
 * @throws ServiceError CONFIG_INVALID when one holds no key that can be read
 */
export async function readTrustedKeys(
  sources: readonly (string | Uint8Array)[],
): Promise<readonly TrustedKey[]> {
  const keys: TrustedKey[] = []
  for (const [index, source] of sources.entries()) {
    try {
      for (const key of await readSource(source)) keys.push(await describeKey(key))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new ServiceError('CONFIG_INVALID', `reading trusted key ${index + 1}: ${why}`, { index }, cause)
    }
  }
  return keys
}

/** Keys that have expired or will within 30 days (field case 139). */
export function keyWarnings(keys: readonly TrustedKey[], now: number): readonly KeyWarning[] {
  return keys.flatMap(({ id, name, expiresAt }) => {
    if (expiresAt === undefined || expiresAt - now > warnAheadMs) return []
    return [{ id, name, expiresAt, isExpired: expiresAt <= now }]
  })
}

async function readSource(source: string | Uint8Array): Promise<Key[]> {
  // Only where there are keys: it is half a megabyte of source.
  const { readKeys } = await import('openpgp')
  const text = typeof source === 'string' ? source : Buffer.from(source).toString('latin1')
  const blocks = text.match(armorBlock) ?? []
  if (blocks.length === 0) {
    const binaryKeys = typeof source === 'string' ? Buffer.from(source, 'latin1') : source
    return readKeys({ binaryKeys })
  }
  const keys = await Promise.all(blocks.map((armoredKeys) => readKeys({ armoredKeys })))
  return keys.flat()
}

async function describeKey(key: Key): Promise<TrustedKey> {
  const expiry = await key.getExpirationTime()
  // No time at all means that no self-signature is valid any more: the key is revoked or was never whole.
  const expiresAt = expiry === null ? 0 : expiry instanceof Date ? expiry.getTime() : undefined
  return {
    id: key.getKeyID().toHex().toUpperCase(),
    name: key.getUserIDs()[0] ?? 'without a name',
    ...(expiresAt === undefined ? {} : { expiresAt }),
    key: key.toPublic(),
  }
}
