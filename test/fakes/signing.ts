import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'

export interface Signer {
  /** Armored public key. */
  readonly publicKey: string
  /** A detached signature, binary or armored. */
  sign(bytes: Uint8Array, options?: { readonly armored?: boolean; readonly at?: number }): Promise<Uint8Array>
}

export type SignerKind = 'ed25519' | 'rsa' | 'p256'

const kinds = {
  ed25519: { type: 'curve25519' },
  rsa: { type: 'rsa', rsaBits: 2048 },
  p256: { type: 'ecc', curve: 'nistP256' },
} as const

/** A key of our own that signs as the real publishers do. */
export async function makeSigner(
  options: { readonly kind?: SignerKind; readonly createdAt?: number; readonly validSeconds?: number } = {},
): Promise<Signer> {
  const createdAt = options.createdAt ?? Date.parse('2026-01-01T00:00:00Z')
  const { privateKey, publicKey } = await generateKey({
    ...kinds[options.kind ?? 'ed25519'],
    userIDs: [{ name: 'Test signer' }],
    date: new Date(createdAt),
    keyExpirationTime: options.validSeconds ?? 0,
    format: 'armored',
  })
  const signingKeys = await readPrivateKey({ armoredKey: privateKey })
  return {
    publicKey,
    async sign(bytes, { armored = false, at = createdAt + 1000 } = {}) {
      const message = await createMessage({ binary: bytes })
      const common = { message, signingKeys, detached: true, date: new Date(at) } as const
      if (armored) return Buffer.from((await sign({ ...common, format: 'armored' })) as string)
      return (await sign({ ...common, format: 'binary' })) as Uint8Array
    },
  }
}
