import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStat, BlobStore } from '../../src/artifacts/blob-store.ts'
import type { Sha256 } from '../../src/core/digest.ts'

export interface BlobStoreUnderTest {
  readonly store: BlobStore
  /** Brings verified bytes in, by whatever way this store has. */
  put(bytes: Uint8Array): Promise<Sha256>
  close?(): Promise<void>
}

/** What every blob store does. */
export function describeBlobStore(name: string, open: () => Promise<BlobStoreUnderTest>): void {
  describe(`${name} as a blob store`, () => {
    let tested: BlobStoreUnderTest
    beforeEach(async () => {
      tested = await open()
    })
    afterEach(() => tested.close?.())

    const absent = createHash('sha256').update('absent').digest('hex') as Sha256

    async function all(): Promise<BlobStat[]> {
      const found: BlobStat[] = []
      for await (const blob of tested.store.list()) found.push(blob)
      return found
    }

    it('is empty at first', async () => {
      expect(await all()).toEqual([])
      expect(await tested.store.usedBytes()).toBe(0)
      expect(await tested.store.stat(absent)).toBeUndefined()
    })

    it('tells digest, size, time and an absolute path of what it has', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      const blob = await tested.store.stat(sha256)
      expect(sha256).toBe(createHash('sha256').update('hello').digest('hex'))
      expect(blob).toMatchObject({ sha256, sizeBytes: 5 })
      expect(blob?.path).toMatch(/^\/.*[0-9a-f]{64}$/)
      expect(Number.isInteger(blob?.modifiedAt)).toBe(true)
    })

    it('lists everything once, and counts its bytes', async () => {
      const one = await tested.put(Buffer.from('one'))
      const three = await tested.put(Buffer.from('three'))
      await tested.put(Buffer.from('one'))
      expect((await all()).map(({ sha256 }) => sha256)).toEqual([one, three].sort())
      expect(await tested.store.usedBytes()).toBe(8)
    })

    it('says the same in list and stat', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      expect(await all()).toEqual([await tested.store.stat(sha256)])
    })

    it('forgets what is removed, and removing twice is fine', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      await tested.store.remove(sha256)
      await tested.store.remove(sha256)
      expect(await tested.store.stat(sha256)).toBeUndefined()
      expect(await all()).toEqual([])
    })

    it('takes a quarantined blob out of service', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      await tested.store.quarantine(sha256, 'it smells')
      expect(await tested.store.stat(sha256)).toBeUndefined()
      expect(await all()).toEqual([])
      expect(await tested.store.usedBytes()).toBe(0)
    })

    it('quarantining what is not there is fine', async () => {
      await tested.store.quarantine(absent, 'it smells')
      expect(await all()).toEqual([])
    })

    it('takes a blob back after it was removed or quarantined', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      await tested.store.quarantine(sha256, 'it smells')
      await tested.put(Buffer.from('hello'))
      await tested.store.quarantine(sha256, 'it smells again')
      await tested.put(Buffer.from('hello'))
      expect(await tested.store.stat(sha256)).toMatchObject({ sizeBytes: 5 })
    })

    it('names a signature path for any digest, each its own', async () => {
      const sha256 = await tested.put(Buffer.from('hello'))
      expect(tested.store.signaturePath(sha256)).toContain(sha256)
      expect(tested.store.signaturePath(absent)).not.toBe(tested.store.signaturePath(sha256))
    })
  })
}
