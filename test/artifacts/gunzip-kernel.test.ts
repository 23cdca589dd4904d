import { createHash, randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { createBlobStore, openBlobStore } from '../../src/artifacts/create-blob-store.ts'
import { gunzipKernel } from '../../src/artifacts/gunzip-kernel.ts'
import { IncomingFile } from '../../src/artifacts/incoming-file.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createUnsyncedFs, type UnsyncedFs } from '../fakes/unsynced-fs.ts'

const layout = layoutOf('/data')
const clock = { now: () => 0 }
const plain = randomBytes(100_000)
let fs: UnsyncedFs
let time = 0

beforeEach(async () => {
  time = 0
  fs = createUnsyncedFs({ now: () => time })
  await openBlobStore({ fs, layout, clock })
})

function digestOf(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}

async function unpack(
  stored: Uint8Array,
  more: Partial<Artifact> = {},
  signal = new AbortController().signal,
) {
  const path = layout.incomingFile(digestOf(stored), 'a1')
  const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 4096 })
  await incoming.append(stored)
  const result = await incoming.commit(undefined)
  if (result.kind !== 'stored') throw new Error('not stored')
  const sha256 = result.blob.sha256
  const artifact: Artifact = {
    role: 'kernel',
    name: 'vmlinuz',
    sha256,
    location: 'http://up.example/k',
    ...more,
  }
  const store = createBlobStore({ fs, layout, clock })
  const prove = (digest: Sha256) => store.stat(digest)
  const options = { fs, layout, prove, blockBytes: 4096, largestBytes: 200_000, signal }
  return gunzipKernel(artifact, result.blob, options)
}

function incomingNames(): string[] {
  return [...fs.files().keys()].filter((path) => path.startsWith(layout.incoming))
}

describe('108: a kernel that is gzip', () => {
  it('G1 is unpacked to a second blob with its own digest', async () => {
    const blob = await unpack(gzipSync(plain))
    expect(blob).toMatchObject({ sha256: digestOf(plain), sizeBytes: plain.length })
    expect(
      fs
        .files()
        .get(layout.blob(digestOf(plain)))
        ?.equals(plain),
    ).toBe(true)
    expect(incomingNames()).toEqual([])
  })

  it('in several members is unpacked whole', async () => {
    const blob = await unpack(
      Buffer.concat([gzipSync(plain.subarray(0, 500)), gzipSync(plain.subarray(500))]),
    )
    expect(blob?.sha256).toBe(digestOf(plain))
  })

  it('is unpacked again to the same file, which keeps its date', async () => {
    await unpack(gzipSync(plain))
    time = 5000
    expect(await unpack(gzipSync(plain))).toMatchObject({ sha256: digestOf(plain), modifiedAt: 0 })
    expect(incomingNames()).toEqual([])
  })

  it('133: must unpack to what the document says', async () => {
    expect(await unpack(gzipSync(plain), { uncompressedSha256: digestOf(plain) })).toBeDefined()
    const other = digestOf(Buffer.from('other'))
    await expect(unpack(gzipSync(randomBytes(10)), { uncompressedSha256: other })).rejects.toMatchObject({
      code: 'ARTIFACT_DIGEST_MISMATCH',
      message: expect.stringContaining(`expected SHA-256 ${other}`),
    })
    expect(incomingNames()).toEqual([])
  })
})

describe('what is no good gzip', () => {
  it.each([
    ['an uncompressed kernel', Buffer.concat([Buffer.from('MZ'), plain])],
    ['a single byte', Buffer.from([0x1f])],
  ])('%s is left alone', async (_what, stored) => {
    expect(await unpack(stored)).toBeUndefined()
    expect(incomingNames()).toEqual([])
  })

  it.each([
    ['cut off', gzipSync(plain).subarray(0, 50_000), 'ARTIFACT_DIGEST_MISMATCH'],
    [
      'damaged',
      Buffer.concat([gzipSync(plain).subarray(0, 1000), randomBytes(500)]),
      'ARTIFACT_DIGEST_MISMATCH',
    ],
    ['empty inside', gzipSync(Buffer.alloc(0)), 'ARTIFACT_EMPTY'],
    ['a bomb', gzipSync(Buffer.alloc(300_000)), 'ARTIFACT_TOO_LONG'],
  ])('%s is an error with a code, and leaves nothing', async (_what, stored, code) => {
    await expect(unpack(stored)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^unpacking kernel vmlinuz: /),
    })
    expect(incomingNames()).toEqual([])
  })

  it('an abort stops it with its own reason', async () => {
    const reason = new Error('enough')
    await expect(unpack(gzipSync(plain), {}, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(incomingNames()).toEqual([])
  })
})
