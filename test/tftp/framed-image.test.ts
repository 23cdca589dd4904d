import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBlockLayout, frameBytes, framedBytes } from '../../src/tftp/framed-image.ts'

/** Takes a run apart as a client would: 16-bit numbers and data. */
function unframe(bytes: Buffer, stride: number): { block: number; data: Buffer }[] {
  const packets = []
  for (let at = 0; at < bytes.length; at += stride) {
    const packet = bytes.subarray(at, Math.min(at + stride, bytes.length))
    expect(packet.readUInt16BE(0)).toBe(3)
    packets.push({ block: packet.readUInt16BE(2), data: packet.subarray(4) })
  }
  return packets
}

describe('a file as packets', () => {
  it.each([
    [1, 512, 1],
    [511, 512, 1],
    [512, 512, 2],
    [513, 512, 2],
    [1024, 512, 3],
    [73_400_320, 512, 143_361],
    [1_048_576, 1468, 715],
  ])('%i bytes in blocks of %i are %i packets', (sizeBytes, blockSize, blockCount) => {
    expect(createBlockLayout(sizeBytes, blockSize, 0).blockCount).toBe(blockCount)
  })

  it('a file that fills its blocks ends with an empty one', () => {
    const content = Buffer.alloc(1024, 7)
    const layout = createBlockLayout(1024, 512, 0)
    const packets = unframe(frameBytes(content, layout, 1, 3).bytes, 516)
    expect(packets.map(({ block, data }) => [block, data.length])).toEqual([
      [1, 512],
      [2, 512],
      [3, 0],
    ])
  })

  it('numbers wrap to 0, or to 1 where asked', () => {
    const content = Buffer.alloc(8 * 65_540, 1)
    const numbers = (wrap: 0 | 1) =>
      unframe(frameBytes(content, createBlockLayout(content.length, 8, wrap), 65_534, 65_538).bytes, 12).map(
        ({ block }) => block,
      )
    expect(numbers(0)).toEqual([65534, 65535, 0, 1, 2])
    expect(numbers(1)).toEqual([65534, 65535, 1, 2, 3])
  })

  it('any part of any file carries its bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 3000 }),
        fc.integer({ min: 8, max: 700 }),
        fc.nat(),
        fc.nat(),
        (array, blockSize, a, b) => {
          const content = Buffer.from(array)
          const layout = createBlockLayout(content.length, blockSize, 0)
          const first = 1 + (a % layout.blockCount)
          const last = first + (b % (layout.blockCount - first + 1))
          const run = frameBytes(content, layout, first, last)
          expect(run.bytes.length).toBe(framedBytes(layout, first, last))
          const packets = unframe(run.bytes, run.stride)
          // An empty last block adds its header alone, which the walk in strides cannot miss.
          expect(packets.map(({ block }) => block)).toEqual(
            Array.from({ length: last - first + 1 }, (_, at) => first + at),
          )
          expect(Buffer.concat(packets.map(({ data }) => data))).toEqual(
            content.subarray((first - 1) * blockSize, last * blockSize),
          )
        },
      ),
    )
  })
})
