import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/tftp/content.ts'
import { createFrameCache, type FramedImage } from '../../src/tftp/frame-cache.ts'

const mebibyte = 1024 * 1024

/** A file whose byte at any place can be told, and that counts how often it is read. */
function fakeFile(id: string, sizeBytes: number) {
  const readings: { position: number; length: number }[] = []
  const content: Content = {
    sizeBytes,
    id,
    source: {
      kind: 'disk',
      async read(target, offset, position) {
        readings.push({ position, length: target.length - offset })
        for (let at = offset; at < target.length; at += 1) target[at] = (position + at - offset) % 251
      },
    },
    close() {},
  }
  return { content, readings }
}

/** The data of block `block` must be what the file has there. */
async function expectBlock(image: FramedImage, block: number, nowMs: number): Promise<void> {
  const run = image.runNow(block, block, nowMs) ?? (await image.load(block, block, nowMs))
  expect(run.firstBlock).toBeLessThanOrEqual(block)
  expect(run.lastBlock).toBeGreaterThanOrEqual(block)
  const at = (block - run.firstBlock) * run.stride
  const { blockSize, sizeBytes } = image.layout
  const start = (block - 1) * blockSize
  expect(run.bytes.readUInt16BE(at)).toBe(3)
  expect(run.bytes.readUInt16BE(at + 2)).toBe(block & 0xffff)
  if (start < sizeBytes) expect(run.bytes[at + 4]).toBe(start % 251)
}

describe('framed files in memory', () => {
  it('a piece is read once, however many want it at the same time', async () => {
    const { content, readings } = fakeFile('a', mebibyte)
    const cache = createFrameCache({ maxBytes: 8 * mebibyte, wrap: 0 })
    const images = Array.from({ length: 50 }, () => cache.image(content, 1468))
    await Promise.all(images.map((image) => image.load(1, 4, 0)))
    expect(readings).toHaveLength(1)
    expect(images.map((image) => image.runNow(1, 4, 0))).toEqual(Array(50).fill(images[0]?.runNow(1, 4, 0)))
    expect(cache.heldBytes).toBeLessThan(260 * 1024)
  })

  it('every block of a file is right, whatever the block size', async () => {
    for (const blockSize of [8, 512, 1024, 1468, 8968, 65464]) {
      const { content } = fakeFile('a', 700_001)
      const image = createFrameCache({ maxBytes: 64 * mebibyte, wrap: 0 }).image(content, blockSize)
      const { blockCount } = image.layout
      for (let block = 1; block <= blockCount; block += Math.max(1, Math.floor(blockCount / 40))) {
        await expectBlock(image, block, 0)
      }
      await expectBlock(image, blockCount, 0)
    }
  })

  it('what is held stays within its bound; what was not used longest goes first', async () => {
    const cache = createFrameCache({ maxBytes: mebibyte, wrap: 0 })
    const { content, readings } = fakeFile('a', 10 * mebibyte)
    const image = cache.image(content, 1468)
    for (let block = 1; block <= image.layout.blockCount; block += 176) {
      await image.load(block, block, block * 1_000)
      expect(cache.heldBytes).toBeLessThanOrEqual(mebibyte)
    }
    const read = readings.length
    const newest = image.layout.blockCount
    expect(image.runNow(newest, newest, 9e9)).toBeDefined()
    expect(image.runNow(1, 1, 9e9)).toBeUndefined()
    expect(readings).toHaveLength(read)
  })

  it('when everything held is in use, windows are read alone and not kept', async () => {
    const cache = createFrameCache({ maxBytes: 300 * 1024, wrap: 0 })
    const { content, readings } = fakeFile('a', 10 * mebibyte)
    const image = cache.image(content, 1468)
    await image.load(1, 4, 0)
    const held = cache.heldBytes
    const run = await image.load(1000, 1003, 100)
    expect([run.firstBlock, run.lastBlock]).toEqual([1000, 1003])
    expect(readings.at(-1)).toEqual({ position: 999 * 1468, length: 4 * 1468 })
    expect(cache.heldBytes).toBe(held)
    expect(image.runNow(1, 4, 200)).toBeDefined()
    // Two seconds later nobody has asked for the first piece any more.
    const piece = await image.load(1000, 1003, 3_000)
    expect(piece.lastBlock - piece.firstBlock).toBe(175)
  })

  it('block sizes of a file are held apart, and many of them do not grow past the bound', async () => {
    const cache = createFrameCache({ maxBytes: 2 * mebibyte, wrap: 0 })
    const { content } = fakeFile('a', mebibyte)
    for (let blockSize = 500; blockSize < 700; blockSize += 1) {
      const image = cache.image(content, blockSize)
      await expectBlock(image, 1, blockSize)
      await expectBlock(image, image.layout.blockCount, blockSize)
      expect(cache.heldBytes).toBeLessThanOrEqual(2 * mebibyte)
      image.release()
    }
  })

  it('the next piece is read ahead, once, from the middle on', async () => {
    const { content, readings } = fakeFile('a', mebibyte)
    const image = createFrameCache({ maxBytes: 8 * mebibyte, wrap: 0 }).image(content, 1468)
    await image.load(1, 4, 0)
    image.readAhead(80, 0)
    expect(readings).toHaveLength(1)
    image.readAhead(100, 0)
    image.readAhead(104, 0)
    expect(readings).toHaveLength(2)
    await image.load(177, 180, 0)
    expect(readings).toHaveLength(2)
    image.readAhead(image.layout.blockCount, 0)
    expect(readings).toHaveLength(2)
  })

  it('a reading that fails is not remembered', async () => {
    let isBroken = true
    const content: Content = {
      sizeBytes: 1000,
      id: 'a',
      source: {
        kind: 'disk',
        async read(target, offset) {
          if (isBroken) throw new Error('broken')
          target.fill(9, offset)
        },
      },
      close() {},
    }
    const cache = createFrameCache({ maxBytes: mebibyte, wrap: 0 })
    const image = cache.image(content, 512)
    await expect(image.load(1, 1, 0)).rejects.toThrow('broken')
    expect(cache.heldBytes).toBe(0)
    isBroken = false
    expect((await image.load(1, 1, 0)).bytes[4]).toBe(9)
  })

  it('scripts are framed at once, and let go with their transfer', () => {
    const cache = createFrameCache({ maxBytes: mebibyte, wrap: 0 })
    const bytes = Buffer.from('#!ipxe\n'.repeat(200))
    const content: Content = { sizeBytes: bytes.length, source: { kind: 'memory', bytes }, close() {} }
    const image = cache.image(content, 512)
    const run = image.runNow(1, 1, 0)
    expect([run?.firstBlock, run?.lastBlock]).toEqual([1, 3])
    expect(cache.heldBytes).toBe(bytes.length + 12)
    image.release()
    expect(cache.heldBytes).toBe(0)
  })

  it('a script is served even when there is no room for it', () => {
    const bytes = Buffer.alloc(5_000, 1)
    const content: Content = { sizeBytes: bytes.length, source: { kind: 'memory', bytes }, close() {} }
    const image = createFrameCache({ maxBytes: 100, wrap: 0 }).image(content, 512)
    const run = image.runNow(3, 4, 0)
    expect([run?.firstBlock, run?.lastBlock, run?.bytes.length]).toEqual([3, 4, 2 * 516])
  })
})
