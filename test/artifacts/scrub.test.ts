import { beforeEach, describe, expect, it } from 'vitest'
import type { BadBlob } from '../../src/artifacts/check-blob.ts'
import type { HashedBlob } from '../../src/artifacts/hash-blob.ts'
import { scrub } from '../../src/artifacts/scrub.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { createMemoryBlobStore, type MemoryBlobStore } from '../fakes/memory-blob-store.ts'

let store: MemoryBlobStore
let one: Sha256
let two: Sha256
beforeEach(() => {
  store = createMemoryBlobStore()
  one = store.put(Buffer.from('one'))
  two = store.put(Buffer.from('three'))
})

const other = 'ab'.repeat(32) as Sha256

function hashing(answer: (sha256: Sha256) => Sha256 | undefined) {
  return {
    async hash(sha256: Sha256) {
      const digest = answer(sha256)
      return digest && hashed(sha256, digest)
    },
  }
}

async function hashed(sha256: Sha256, digest: Sha256): Promise<HashedBlob | undefined> {
  const blob = await store.stat(sha256)
  return blob && { digest, blob }
}

describe('scrub', () => {
  it('counts what is as it should be', async () => {
    const report = await scrub({ store, fetcher: hashing((sha256) => sha256) })
    expect(report).toEqual({ checked: 2, bytes: 8, bad: [] })
  })

  it('G1 takes a blob whose bytes have changed out of service before it tells', async () => {
    const told: [BadBlob, unknown][] = []
    const report = await scrub({
      store,
      fetcher: hashing((sha256) => (sha256 === one ? other : sha256)),
      onBad: async (bad) => void told.push([bad, await store.stat(bad.sha256)]),
    })
    const reason = `expected SHA-256 ${one}, found ${other}`
    expect(report.bad).toEqual([{ sha256: one, reason }])
    expect(told).toEqual([[{ sha256: one, reason }, undefined]])
    expect(store.quarantined.get(one)).toBe(reason)
    expect(await store.stat(two)).toBeDefined()
  })

  it('a disk that cannot read a blob any more is as bad', async () => {
    const damage = new ServiceError('STORAGE_FAILED', 'reading /x: EIO', { code: 'EIO' })
    const fetcher = {
      async hash(sha256: Sha256) {
        if (sha256 === one) throw damage
        return hashed(sha256, sha256)
      },
    }
    expect((await scrub({ store, fetcher })).bad).toEqual([{ sha256: one, reason: 'reading /x: EIO' }])
  })

  it.each([
    new ServiceError('INTERNAL', 'the fetching thread stopped'),
    new ServiceError('STORAGE_FAILED', 'too many open files', { code: 'EMFILE' }),
  ])('a failure that says nothing about the blob leaves it in service: $message', async (error) => {
    const fetcher = { hash: () => Promise.reject(error) }
    await expect(scrub({ store, fetcher })).rejects.toBe(error)
    expect(store.quarantined.size).toBe(0)
  })

  it('passes over a blob that was removed meanwhile', async () => {
    const report = await scrub({ store, fetcher: hashing((sha256) => (sha256 === one ? undefined : sha256)) })
    expect(report).toMatchObject({ checked: 1, bad: [] })
    expect(store.quarantined.size).toBe(0)
  })

  it('goes at the pace it is given, and stops when asked', async () => {
    const asked: unknown[] = []
    const abort = new AbortController()
    const fetcher = {
      async hash(sha256: Sha256, options: unknown) {
        asked.push(options)
        abort.abort(new Error('enough'))
        return hashed(sha256, sha256)
      },
    }
    await expect(scrub({ store, fetcher, bytesPerSecond: 5, signal: abort.signal })).rejects.toThrow('enough')
    expect(asked).toEqual([{ bytesPerSecond: 5, signal: abort.signal }])
  })
})
