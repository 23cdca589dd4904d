import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type HashSignedFile, verifySignature } from '../../src/artifacts/signature.ts'
import { keyWarnings, readTrustedKeys } from '../../src/artifacts/trusted-keys.ts'
import { makeSigner, type SignerKind } from '../fakes/signing.ts'

const file = randomBytes(100_000)
const now = Date.parse('2026-11-29T12:00:00Z')
const day = 24 * 60 * 60 * 1000

function hashOf(bytes: Uint8Array): HashSignedFile {
  return async (algorithm, prefix, suffix) =>
    createHash(algorithm).update(prefix).update(bytes).update(suffix).digest()
}

function gnupg(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/gnupg/${name}`, import.meta.url))
}

async function verdictOn(
  signature: Uint8Array,
  keySources: (string | Uint8Array)[],
  bytes: Uint8Array = file,
  at = now,
) {
  return verifySignature({ signature, keys: await readTrustedKeys(keySources), now: at, hash: hashOf(bytes) })
}

describe('verifySignature', () => {
  it.each(['rsa', 'ed25519', 'p256'] satisfies SignerKind[])(
    'a good signature by a trusted %s key is good',
    async (kind) => {
      const signer = await makeSigner({ kind })
      expect(await verdictOn(await signer.sign(file), [signer.publicKey])).toMatchObject({ kind: 'good' })
      expect(await verdictOn(await signer.sign(file, { armored: true }), [signer.publicKey])).toMatchObject({
        kind: 'good',
      })
    },
  )

  it.each(['rsa', 'ed25519', 'p256'] satisfies SignerKind[])(
    'other bytes than a trusted %s key signed are wrong',
    async (kind) => {
      const signer = await makeSigner({ kind })
      const changed = Buffer.from(file)
      changed[50_000] = (changed[50_000] ?? 0) ^ 1
      expect(await verdictOn(await signer.sign(file), [signer.publicKey], changed)).toMatchObject({
        kind: 'wrong',
      })
    },
  )

  it('a signature whose mathematics were changed is wrong', async () => {
    const signer = await makeSigner({ kind: 'rsa' })
    const signature = Buffer.from(await signer.sign(file))
    signature[signature.length - 3] = (signature.at(-3) ?? 0) ^ 1
    expect(await verdictOn(signature, [signer.publicKey])).toMatchObject({ kind: 'wrong' })
  })

  it('one of several trusted keys is enough', async () => {
    const signers = await Promise.all([makeSigner(), makeSigner(), makeSigner()])
    const keys = signers.map(({ publicKey }) => publicKey)
    const signature = await signers[1]?.sign(file)
    expect(await verdictOn(signature ?? file, keys)).toMatchObject({ kind: 'good' })
  })

  it('one good signature of several is enough', async () => {
    const [stranger, signer] = await Promise.all([makeSigner(), makeSigner()])
    const both = Buffer.concat([await stranger.sign(file), await signer.sign(file)])
    expect(await verdictOn(both, [signer.publicKey])).toMatchObject({ kind: 'good' })
  })

  it('a stranger’s signature says nothing', async () => {
    const [stranger, signer] = await Promise.all([makeSigner(), makeSigner()])
    const verdict = await verdictOn(await stranger.sign(file), [signer.publicKey])
    expect(verdict).toMatchObject({ kind: 'untrusted' })
    expect('why' in verdict && verdict.why).toMatch(/^key [0-9A-F]{16} is not among the trusted keys$/)
  })

  it('139: a key that has expired since counts no more', async () => {
    const signer = await makeSigner({ validSeconds: 100 * 24 * 3600 })
    const signature = await signer.sign(file)
    expect(await verdictOn(signature, [signer.publicKey], file, Date.parse('2026-02-01'))).toMatchObject({
      kind: 'good',
    })
    expect(await verdictOn(signature, [signer.publicKey])).toMatchObject({ kind: 'key-expired' })
  })

  it('a signature from the future is not trusted', async () => {
    const signer = await makeSigner()
    expect(await verdictOn(await signer.sign(file, { at: now + day }), [signer.publicKey])).toMatchObject({
      kind: 'untrusted',
    })
  })

  it.each([
    ['an HTML page', Buffer.from('<html>not found</html>')],
    ['nothing', Buffer.alloc(0)],
    ['noise', randomBytes(500)],
    ['an armor without an end', Buffer.from('-----BEGIN PGP SIGNATURE-----\n\nabc')],
    ['a public key', gnupg('key.gpg')],
  ])('%s is no signature', async (_what, bytes) => {
    const signer = await makeSigner()
    expect(await verdictOn(bytes, [signer.publicKey])).toMatchObject({ kind: 'unreadable' })
  })

  it('every truncation of a good signature is refused', async () => {
    const signer = await makeSigner({ kind: 'rsa' })
    const signature = await signer.sign(file)
    for (let length = 0; length < signature.length; length += 7) {
      const verdict = await verdictOn(signature.subarray(0, length), [signer.publicKey])
      expect(verdict.kind).not.toBe('good')
    }
  })

  it('with no keys nothing is trusted', async () => {
    const signer = await makeSigner()
    expect(await verdictOn(await signer.sign(file), [])).toMatchObject({ kind: 'untrusted' })
  })
})

describe('what GnuPG made', () => {
  const signed = gnupg('signed.txt')
  const later = Date.parse('2026-12-31T00:00:00Z')

  it.each(['signed.txt.sig', 'signed.txt.asc'])(
    '%s is good, with the key armored or binary',
    async (name) => {
      for (const key of [gnupg('key.asc').toString(), gnupg('key.asc'), gnupg('key.gpg')]) {
        expect(await verdictOn(gnupg(name), [key], signed, later)).toMatchObject({ kind: 'good' })
      }
    },
  )

  it('over other bytes is wrong', async () => {
    const verdict = await verdictOn(gnupg('signed.txt.sig'), [gnupg('key.gpg')], file, later)
    expect(verdict).toMatchObject({ kind: 'wrong' })
  })

  it.each([
    ['signed.txt.sha1.sig', 'hash algorithm'],
    ['signed.txt.text.asc', 'binary file'],
  ])('%s is not trusted', async (name, why) => {
    const verdict = await verdictOn(gnupg(name), [gnupg('key.gpg')], signed, later)
    expect(verdict).toMatchObject({ kind: 'untrusted', why: expect.stringContaining(why) })
  })
})

describe('trusted keys', () => {
  it('may be many in one text', async () => {
    const signers = await Promise.all([makeSigner(), makeSigner()])
    const text = `keys of ours\n${signers.map(({ publicKey }) => publicKey).join('\n\n')}\n`
    const keys = await readTrustedKeys([text])
    expect(keys.map(({ name }) => name)).toEqual(['Test signer', 'Test signer'])
    expect(await verdictOn((await signers[1]?.sign(file)) ?? file, [text])).toMatchObject({ kind: 'good' })
  })

  it.each([['text'], [randomBytes(50)]])(
    'that cannot be read are a configuration error naming which',
    async (source) => {
      await expect(readTrustedKeys([gnupg('key.asc'), source])).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/^reading trusted key 2: /),
      })
    },
  )

  it('139: are warned about from 30 days before they expire', async () => {
    const signer = await makeSigner({ createdAt: now, validSeconds: 100 * 24 * 3600 })
    const keys = await readTrustedKeys([signer.publicKey, gnupg('key.asc')])
    const expiresAt = now + 100 * day
    expect(keyWarnings(keys, now + 69 * day)).toEqual([])
    expect(keyWarnings(keys, now + 71 * day)).toEqual([
      { id: keys[0]?.id, name: 'Test signer', expiresAt, isExpired: false },
    ])
    expect(keyWarnings(keys, now + 101 * day)).toMatchObject([{ isExpired: true }])
  })
})
