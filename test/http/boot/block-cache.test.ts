import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Block,
  type BlockCache,
  type BlockSource,
  createBlockCache,
} from '../../../src/http/boot/block-cache.ts'

interface CountingSource extends BlockSource {
  readonly reads: number[]
}

/** A file whose byte at `n` is `n` plus its id's first character, so that mixed-up blocks show. */
function source(id: string, sizeBytes = 100): CountingSource {
  const reads: number[] = []
  return {
    id,
    sizeBytes,
    reads,
    async read(target, length, position) {
      reads.push(position)
      for (let at = 0; at < length; at += 1) target[at] = (id.charCodeAt(0) + position + at) & 0xff
    },
  }
}

function cacheOf(blocks: number): BlockCache {
  return createBlockCache({ sizeBytes: blocks * 10, blockBytes: 10 })
}

async function take(cache: BlockCache, file: BlockSource, index: number, retain = true): Promise<Block> {
  const block = cache.acquire(file, index, retain)
  if (block === undefined) throw new Error('every buffer is pinned')
  return block
}

describe('sharing', () => {
  test('readers of one block share one read, even while it goes on', async () => {
    const cache = cacheOf(4)
    const file = source('a')
    const [one, two] = await Promise.all([take(cache, file, 3), take(cache, file, 3)])
    expect(one.bytes).toBe(two.bytes)
    expect(file.reads).toEqual([30])
    expect(cache.pinned()).toBe(1)
    cache.release(one)
    expect(cache.pinned()).toBe(1)
    cache.release(two)
    expect(cache.pinned()).toBe(0)
  })

  test('a retained block is found again without a read', async () => {
    const cache = cacheOf(4)
    const file = source('a')
    cache.release(await take(cache, file, 0))
    const again = cache.acquire(file, 0, true)
    expect(again).not.toBeInstanceOf(Promise)
    expect(file.reads).toEqual([0])
  })

  test('G1 the same path with other content has another id and shares nothing', async () => {
    const cache = cacheOf(4)
    const before = await take(cache, source('a'), 0)
    const after = await take(cache, source('b'), 0)
    expect(before.bytes[0]).toBe('a'.charCodeAt(0))
    expect(after.bytes[0]).toBe('b'.charCodeAt(0))
  })
})

describe('bounds', () => {
  test('the least recently used block goes first', async () => {
    const cache = cacheOf(2)
    const file = source('a')
    for (const index of [0, 1, 0, 2, 0]) cache.release(await take(cache, file, index))
    expect(file.reads).toEqual([0, 10, 20])
    cache.release(await take(cache, file, 1))
    expect(file.reads).toEqual([0, 10, 20, 10])
  })

  test('a pinned block is never taken away; when all are, there is none to have', async () => {
    const cache = cacheOf(2)
    const file = source('a')
    const held = [await take(cache, file, 0), await take(cache, file, 1)]
    expect(cache.acquire(file, 2, true)).toBeUndefined()
    const [first] = held
    if (first !== undefined) cache.release(first)
    expect(await take(cache, file, 2)).toBeDefined()
    expect(held[1]?.bytes[0]).toBe('a'.charCodeAt(0) + 10)
  })

  test('a lone reader of a huge file walks through one warm buffer and evicts nobody', async () => {
    const cache = cacheOf(4)
    const small = source('s')
    cache.release(await take(cache, small, 0))
    const huge = source('h', 10_000)
    const buffers = new Set<Buffer>()
    for (let index = 0; index < 50; index += 1) {
      const block = await take(cache, huge, index, false)
      buffers.add(block.bytes)
      cache.release(block)
    }
    expect(buffers.size).toBe(1)
    cache.release(await take(cache, small, 0))
    expect(small.reads).toEqual([0])
  })

  test('a block that somebody wants kept is kept, though a lone reader came first', async () => {
    const cache = cacheOf(4)
    const file = source('a')
    const lone = await take(cache, file, 0, false)
    const shared = await take(cache, file, 0, true)
    cache.release(lone)
    cache.release(shared)
    cache.release(await take(cache, source('b'), 0, false))
    cache.release(await take(cache, file, 0))
    expect(file.reads).toEqual([0])
  })
})

describe('failures', () => {
  test('a failed read reaches everybody who waited and is not remembered', async () => {
    const cache = cacheOf(1)
    let isBroken = true
    const good = source('a')
    const file: BlockSource = {
      ...good,
      read: (...position) => (isBroken ? Promise.reject(new Error('EIO')) : good.read(...position)),
    }
    const both = await Promise.allSettled([take(cache, file, 0), take(cache, file, 0)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(cache.pinned()).toBe(0)
    isBroken = false
    expect((await take(cache, file, 0)).bytes[0]).toBe('a'.charCodeAt(0))
  })
})

test('a failed read for which nobody waits is no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  const file: BlockSource = { ...source('a'), read: () => Promise.reject(new Error('EIO')) }
  const ahead = cacheOf(2).acquire(file, 0, true)
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  await expect(ahead).rejects.toThrow('EIO')
})

test('G1 whoever holds a block sees the bytes of that block, whatever the others do', async () => {
  const step = fc.record({
    file: fc.constantFrom('a', 'b', 'c'),
    index: fc.nat(9),
    retain: fc.boolean(),
    drop: fc.nat(5),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const cache = cacheOf(4)
      const held: { readonly block: Block; readonly first: number }[] = []
      for (const { file, index, retain, drop } of steps) {
        const found = await cache.acquire(source(file), index, retain)
        if (found !== undefined) held.push({ block: found, first: (file.charCodeAt(0) + index * 10) & 0xff })
        for (const { block, first } of held) expect(block.bytes[0]).toBe(first)
        if (held.length > 3 || drop === 0) {
          const [out] = held.splice(drop % Math.max(1, held.length), 1)
          if (out !== undefined) cache.release(out.block)
        }
        expect(cache.pinned()).toBeLessThanOrEqual(4)
      }
    }),
    { numRuns: 300 },
  )
})
