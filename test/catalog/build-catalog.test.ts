import { describe, expect, it } from 'vitest'
import { buildCatalog, type CatalogInput, filesOf } from '../../src/catalog/build-catalog.ts'
import { artifactsOf } from '../../src/core/bootimage.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import type { StreamHead } from '../../src/state/store.ts'
import { blobsOf, makeBootimage, makeRecord, sha256Of, someIdentity } from '../fakes/bootimages.ts'

const older = makeBootimage({ release: '44.20260601.3.0' })
const newer = makeBootimage({ release: '44.20260707.3.1' })
const stream = { name: 'fcos-stable', architectures: ['x86_64'] as const, health: { problems: [] } }

function head(parts: Partial<StreamHead>): StreamHead {
  return { stream: 'fcos-stable', arch: 'x86_64', previous: [], ...parts }
}

function build(parts: Partial<CatalogInput>) {
  return buildCatalog({
    revision: 1,
    streams: [stream],
    bootimages: [],
    heads: [],
    pins: [],
    blobs: new Map(),
    ...parts,
  })
}

function archOf(catalog: ReturnType<typeof build>) {
  const arch = catalog.streams.get('fcos-stable')?.byArch.get('x86_64')
  if (arch === undefined) throw new Error('the stream lost its architecture')
  return arch
}

describe('buildCatalog', () => {
  it('G3 a set with one file missing is not ready and none of its files is served', () => {
    const blobs = blobsOf(newer)
    blobs.delete(newer.initramfs.sha256)
    const catalog = build({
      bootimages: [makeRecord(newer, 'ready')],
      heads: [head({ current: newer.id })],
      blobs,
    })
    expect(archOf(catalog).current).toBeUndefined()
    expect(catalog.files.size).toBe(0)
    expect([...catalog.awaited].sort()).toEqual(
      artifactsOf(newer)
        .map(({ sha256 }) => sha256)
        .sort(),
    )
  })

  it('G4 the newest one before a current one that is not whole stands in for it', () => {
    const oldest = makeBootimage({ release: '44.20260505.3.0' })
    const blobs = blobsOf(newer, older, oldest)
    blobs.delete(newer.initramfs.sha256)
    const bootimages = [newer, older, oldest].map((image) => makeRecord(image, 'ready'))
    const heads = [head({ current: newer.id, target: newer.id, previous: [older.id, oldest.id] })]
    const arch = archOf(build({ bootimages, heads, blobs }))
    expect(arch.current).toBeUndefined()
    expect(arch.damaged).toMatchObject({ bootimage: newer, state: 'queued' })
    expect(arch.standIn?.bootimage).toEqual(older)
  })

  it('G9 what the stream went back from never stands in', () => {
    const blobs = blobsOf(newer, older)
    blobs.delete(older.initramfs.sha256)
    const bootimages = [newer, older].map((image) => makeRecord(image, 'ready'))
    const arch = archOf(
      build({ bootimages, heads: [head({ current: older.id, previous: [newer.id] })], blobs }),
    )
    expect(arch.damaged?.bootimage).toEqual(older)
    expect(arch.standIn).toBeUndefined()
  })

  it('G2 a set that was ready and lost a file begins no boot, but those in progress keep its other files', () => {
    const blobs = blobsOf(newer)
    blobs.delete(newer.initramfs.sha256)
    for (const state of ['ready', 'downloading', 'failed'] as const) {
      const catalog = build({ bootimages: [makeRecord(newer, state, { readyAt: 2000 })], blobs })
      expect(catalog.ready.size).toBe(0)
      expect([...catalog.files.keys()].sort()).toEqual([newer.kernel.sha256, newer.rootfs?.sha256].sort())
      expect([...catalog.awaited]).toEqual([newer.initramfs.sha256])
    }
    const evicted = build({ bootimages: [makeRecord(newer, 'known', { readyAt: 2000 })], blobs })
    expect(evicted.files.size).toBe(0)
  })

  it('G1 where signatures are required, a set that was verified without one is neither ready nor served', () => {
    const strict = { ...stream, requiresSignatures: true }
    const records = [makeRecord(newer, 'ready', { readyAt: 2000 })]
    const blobs = blobsOf(newer)
    const sign = (sha256: Sha256) => {
      const facts = blobs.get(sha256)
      if (facts !== undefined) blobs.set(sha256, { ...facts, signaturePath: '/signatures/x' })
    }
    sign(newer.kernel.sha256)
    const unsigned = build({ streams: [strict], bootimages: records, blobs })
    expect(unsigned.ready.size).toBe(0)
    expect([...unsigned.files.keys()]).toEqual([newer.kernel.sha256])
    expect(build({ bootimages: records, blobs }).ready.size).toBe(1)

    for (const { sha256 } of artifactsOf(newer)) sign(sha256)
    expect(build({ streams: [strict], bootimages: records, blobs }).ready.size).toBe(1)
    const failure = { code: 'SIGNATURE_INVALID', message: 'by a stranger', at: 3000 }
    const refused = makeRecord(newer, 'failed', { readyAt: 2000, failure })
    expect(build({ streams: [strict], bootimages: [refused], blobs }).files.size).toBe(0)
  })

  it('G3 files that are all there are not served before the record says ready', () => {
    const catalog = build({ bootimages: [makeRecord(newer, 'downloading')], blobs: blobsOf(newer) })
    expect(catalog.files.size).toBe(0)
    expect(catalog.awaited.size).toBe(3)
  })

  it('G1 a file of zero bytes makes its set not ready', () => {
    const blobs = blobsOf(newer)
    blobs.set(newer.kernel.sha256, {
      sizeBytes: 0,
      modifiedAt: 1,
      path: '/blobs/empty',
      identity: someIdentity,
    })
    expect(build({ bootimages: [makeRecord(newer, 'ready')], blobs }).ready.size).toBe(0)
  })

  it('current, previous and target stand where the head says', () => {
    const next = makeBootimage({ release: '44.20260720.3.0' })
    const catalog = build({
      bootimages: [makeRecord(older, 'ready'), makeRecord(newer, 'ready'), makeRecord(next, 'downloading')],
      heads: [head({ current: newer.id, previous: [older.id], target: next.id })],
      blobs: blobsOf(older, newer),
    })
    const arch = archOf(catalog)
    expect(arch.current?.bootimage.id).toBe(newer.id)
    expect(arch.previous.map(({ bootimage }) => bootimage.id)).toEqual([older.id])
    expect(arch.target).toEqual({ bootimage: next, state: 'downloading', failure: undefined })
  })

  it('a target that became ready and current is no target any more', () => {
    const catalog = build({
      bootimages: [makeRecord(newer, 'ready')],
      heads: [head({ current: newer.id, target: newer.id })],
      blobs: blobsOf(newer),
    })
    expect(archOf(catalog).target).toBeUndefined()
  })

  it('G2 a stream that left the configuration keeps its ready files served', () => {
    const catalog = build({ streams: [], bootimages: [makeRecord(newer, 'ready')], blobs: blobsOf(newer) })
    expect(catalog.streams.size).toBe(0)
    expect(catalog.files.size).toBe(3)
  })

  it('a file shared by a ready and a fetched set is served, not awaited', () => {
    const fetched = { ...makeBootimage({ release: '44.20260720.3.0' }), kernel: newer.kernel }
    const catalog = build({
      bootimages: [makeRecord(newer, 'ready'), makeRecord(fetched, 'queued')],
      blobs: blobsOf(newer),
    })
    expect(catalog.awaited.has(newer.kernel.sha256)).toBe(false)
    expect(catalog.files.has(newer.kernel.sha256)).toBe(true)
  })

  it('G1 a derived kernel is served beside its source, and its absence makes the set not ready', () => {
    const unpacked = sha256Of('unpacked')
    const record = makeRecord(newer, 'ready', { kernelUncompressed: unpacked })
    expect(build({ bootimages: [record], blobs: blobsOf(newer) }).ready.size).toBe(0)
    const blobs = blobsOf(newer).set(unpacked, {
      sizeBytes: 200,
      modifiedAt: 1,
      path: '/blobs/unpacked',
      identity: someIdentity,
    })
    const image = build({ bootimages: [record], blobs }).ready.get(newer.id)
    expect(image && filesOf(image).map(({ role }) => role)).toEqual([
      'kernel',
      'kernel',
      'initramfs',
      'rootfs',
    ])
  })

  describe('a release published twice', () => {
    const again = makeBootimage({ release: newer.release, edition: 'second' })

    it('G8 the verified publication stands above the held one', () => {
      const catalog = build({
        bootimages: [makeRecord(again, 'held'), makeRecord(newer, 'ready')],
        blobs: blobsOf(newer),
      })
      expect(archOf(catalog).releases.get(newer.release)?.bootimage.id).toBe(newer.id)
    })

    it('G5 the publication that a pin fixed stands above any other', () => {
      const catalog = build({
        bootimages: [makeRecord(newer, 'ready'), makeRecord(again, 'queued')],
        pins: [
          {
            stream: 'fcos-stable',
            arch: 'x86_64',
            release: newer.release,
            bootimage: again.id,
            resolvedAt: 1,
          },
        ],
        blobs: blobsOf(newer),
      })
      expect(archOf(catalog).releases.get(newer.release)?.bootimage.id).toBe(again.id)
    })
  })
})
