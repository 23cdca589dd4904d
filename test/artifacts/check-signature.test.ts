import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBlobStore } from '../../src/artifacts/create-blob-store.ts'
import { createFetchEngine } from '../../src/artifacts/fetch-engine.ts'
import type { FetchRequest, SignaturePolicy } from '../../src/artifacts/fetcher.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createFixedUpstream, type FixedAnswers } from '../fakes/fixed-upstream.ts'
import { makeSigner, type Signer } from '../fakes/signing.ts'
import { createUnsyncedFs, type UnsyncedFs } from '../fakes/unsynced-fs.ts'

const layout = layoutOf('/data')
const now = Date.parse('2026-11-29T12:00:00Z')
const file = randomBytes(20_000)
const sha256 = createHash('sha256').update(file).digest('hex') as Sha256
const location = 'http://up.example/rootfs.img'
const sigLocation = `${location}.sig`
const artifact: Artifact = { role: 'rootfs', name: 'rootfs.img', sha256, location, signature: sigLocation }

let signer: Signer
let stranger: Signer
let good: Uint8Array
let wrong: Uint8Array
let foreign: Uint8Array
let fs: UnsyncedFs

beforeAll(async () => {
  ;[signer, stranger] = await Promise.all([makeSigner({ kind: 'rsa' }), makeSigner({ kind: 'rsa' })])
  good = await signer.sign(file)
  wrong = await signer.sign(Buffer.from('something else'))
  foreign = await stranger.sign(file)
})
beforeEach(() => {
  fs = createUnsyncedFs({ now: () => now })
})

interface Change {
  readonly keys?: readonly string[]
  readonly at?: number
  readonly artifact?: Artifact
  readonly mirrors?: readonly string[]
}

/** A fetch of the file whose signature upstream answers as given. */
async function fetchWith(signatures: SignaturePolicy, more: FixedAnswers, change: Change = {}) {
  await openBlobStore({ fs, layout, clock: { now: () => now } })
  const client = createFixedUpstream({ [location]: file, ...more })
  const engine = createFetchEngine({
    dataDirectory: layout.dataDirectory,
    upstream: { allowedOrigins: [] },
    trustedKeys: change.keys ?? [signer.publicKey],
    fs,
    client,
    now: () => change.at ?? now,
    pause: async () => {},
  })
  const request: FetchRequest = {
    artifact: change.artifact ?? artifact,
    mirrors: change.mirrors ?? [],
    signatures,
  }
  const outcome = await engine.fetch(request, { signal: new AbortController().signal, onEvent() {} }).then(
    ({ signature }) => ({ signed: signature !== undefined }),
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  )
  return { outcome, asked: client.asked }
}

function has(path: string): boolean {
  return fs.files().has(path)
}

const signature = (bytes: Uint8Array): FixedAnswers => ({ [sigLocation]: bytes })

describe('a good signature', () => {
  it.each(['required', 'if-present'] as const)('G1 is kept beside the blob (%s)', async (policy) => {
    const { outcome } = await fetchWith(policy, signature(good))
    expect(outcome).toEqual({ signed: true })
    expect(fs.files().get(layout.signature(sha256))?.equals(good)).toBe(true)
  })

  it('is not asked for when the policy is off', async () => {
    const { outcome, asked } = await fetchWith('off', signature(good))
    expect(outcome).toEqual({ signed: false })
    expect(asked).toEqual([`GET ${location}`])
  })

  it('is not fetched again once it is kept', async () => {
    await fetchWith('required', signature(good))
    for (const policy of ['required', 'if-present'] as const) {
      const { outcome, asked } = await fetchWith(policy, {})
      expect(outcome).toEqual({ signed: true })
      expect(asked).toEqual([])
    }
  })

  it('G1 that is kept is no word on the file where nobody checked it', async () => {
    await fetchWith('required', signature(good))
    expect((await fetchWith('off', {})).outcome).toEqual({ signed: false })
  })

  it('that is kept does not count for a stream that trusts other keys', async () => {
    await fetchWith('required', signature(good))
    const keys = [stranger.publicKey]
    expect((await fetchWith('required', {}, { keys })).outcome).toMatchObject({ code: 'SIGNATURE_MISSING' })
    expect((await fetchWith('required', signature(good), { keys })).outcome).toMatchObject({
      code: 'SIGNATURE_INVALID',
    })
    expect(has(layout.blob(sha256))).toBe(true)
    expect((await fetchWith('required', signature(foreign), { keys })).outcome).toEqual({ signed: true })
  })

  it('G1 G7 takes the place of a directory that somebody put there', async () => {
    await fs.makeDirectory(`${layout.signature(sha256)}/something`)
    expect((await fetchWith('required', signature(good))).outcome).toEqual({ signed: true })
    expect(fs.files().get(layout.signature(sha256))?.equals(good)).toBe(true)
  })

  it('that is kept and was damaged is fetched again', async () => {
    await fetchWith('required', signature(good))
    await fs.remove(layout.signature(sha256))
    const file = await fs.create(layout.signature(sha256))
    await file.write(good.subarray(0, 50), 0)
    expect((await fetchWith('required', signature(good))).outcome).toEqual({ signed: true })
    expect(fs.files().get(layout.signature(sha256))?.equals(good)).toBe(true)
  })

  it('is fetched for a blob that came in unsigned under another policy', async () => {
    await fetchWith('off', {})
    const { outcome, asked } = await fetchWith('required', signature(good))
    expect(outcome).toEqual({ signed: true })
    expect(asked).toEqual([`GET ${sigLocation}`])
  })
})

describe('134: a signature that is not there', () => {
  it.each([
    ['404', {}],
    ['403', { [sigLocation]: () => ({ status: 403 }) }],
    ['an HTML page', signature(Buffer.from('<html>not here</html>'))],
    ['nothing', signature(Buffer.alloc(0))],
    ['503', { [sigLocation]: () => ({ status: 503 }) }],
    ['far too long', signature(Buffer.alloc(100_000))],
  ] satisfies [string, FixedAnswers][])(
    'G1 is waited for when required, and done without if-present: %s',
    async (_what, answers) => {
      const required = await fetchWith('required', answers)
      expect(required.outcome).toMatchObject({ code: 'SIGNATURE_MISSING' })
      expect(has(layout.blob(sha256))).toBe(true)
      expect(has(layout.signature(sha256))).toBe(false)
      const optional = await fetchWith('if-present', answers)
      expect(optional.outcome).toEqual({ signed: false })
    },
  )

  it('comes later: only the signature is fetched then', async () => {
    await fetchWith('required', {})
    const { outcome, asked } = await fetchWith('required', signature(good))
    expect(outcome).toEqual({ signed: true })
    expect(asked).toEqual([`GET ${sigLocation}`])
  })

  it('because the document names none', async () => {
    const { signature: _none, ...unsigned } = artifact
    const { outcome } = await fetchWith('required', {}, { artifact: unsigned })
    expect(outcome).toMatchObject({
      code: 'SIGNATURE_MISSING',
      message:
        'checking the signature of rootfs rootfs.img: the signature is not there: the document names none',
    })
  })
})

describe('a bad signature', () => {
  it.each(['required', 'if-present'] as const)(
    '134: of a trusted key over other bytes quarantines the blob (%s)',
    async (policy) => {
      const { outcome } = await fetchWith(policy, signature(wrong))
      expect(outcome).toMatchObject({ code: 'SIGNATURE_INVALID' })
      expect(has(layout.blob(sha256))).toBe(false)
      expect(has(layout.quarantined(sha256))).toBe(true)
      expect(has(layout.quarantineReason(sha256))).toBe(true)
      expect(has(layout.signature(sha256))).toBe(false)
    },
  )

  it.each(['required', 'if-present'] as const)(
    'of a stranger is refused, and says nothing against the blob (%s)',
    async (policy) => {
      const { outcome } = await fetchWith(policy, signature(foreign))
      expect(outcome).toMatchObject({ code: 'SIGNATURE_INVALID' })
      expect(has(layout.blob(sha256))).toBe(true)
      expect(has(layout.signature(sha256))).toBe(false)
    },
  )

  it('139: of an expired key fails closed with a code of its own', async () => {
    const short = await makeSigner({ kind: 'rsa', validSeconds: 24 * 3600 })
    const { outcome } = await fetchWith('if-present', signature(await short.sign(file)), {
      keys: [short.publicKey],
    })
    expect(outcome).toMatchObject({ code: 'SIGNATURE_KEY_EXPIRED' })
    expect(has(layout.blob(sha256))).toBe(true)
  })

  it('from a mirror does not count when upstream has a good one', async () => {
    const answers = { 'http://mirror.example/rootfs.img.sig': wrong, [sigLocation]: good }
    const { outcome } = await fetchWith('required', answers, { mirrors: ['http://mirror.example/{name}'] })
    expect(outcome).toEqual({ signed: true })
    expect(has(layout.blob(sha256))).toBe(true)
  })
})

describe('without any trusted key', () => {
  it('if-present accepts, since nothing can be checked', async () => {
    const { outcome, asked } = await fetchWith('if-present', signature(good), { keys: [] })
    expect(outcome).toEqual({ signed: false })
    expect(asked).toEqual([`GET ${location}`])
  })

  it('required refuses', async () => {
    const { outcome } = await fetchWith('required', signature(good), { keys: [] })
    expect(outcome).toMatchObject({
      code: 'SIGNATURE_INVALID',
      message: expect.stringContaining('no key is trusted'),
    })
  })
})
