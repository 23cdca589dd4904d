import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockLength, blockSliceAt } from '../../../src/http/boot/block-plan.ts'

test('a slice ends with its block or with the range', () => {
  expect(blockSliceAt(0, 2500, 1000)).toEqual({ index: 0, from: 0, to: 1000 })
  expect(blockSliceAt(1000, 2500, 1000)).toEqual({ index: 1, from: 0, to: 1000 })
  expect(blockSliceAt(2000, 2500, 1000)).toEqual({ index: 2, from: 0, to: 500 })
  expect(blockSliceAt(1990, 2500, 1000)).toEqual({ index: 1, from: 990, to: 1000 })
  expect(blockSliceAt(1200, 1300, 1000)).toEqual({ index: 1, from: 200, to: 300 })
})

test('the last block is short', () => {
  expect(blockLength(0, 2500, 1000)).toBe(1000)
  expect(blockLength(2, 2500, 1000)).toBe(500)
  expect(blockLength(1, 2000, 1000)).toBe(1000)
})

test('the slices of any range are the range, each within its block', () => {
  const plan = fc.record({
    start: fc.nat(5000),
    length: fc.integer({ min: 1, max: 5000 }),
    block: fc.integer({ min: 1, max: 700 }),
  })
  fc.assert(
    fc.property(plan, ({ start, length, block }) => {
      const end = start + length
      let position = start
      while (position < end) {
        const { index, from, to } = blockSliceAt(position, end, block)
        expect(index * block + from).toBe(position)
        expect(to).toBeLessThanOrEqual(blockLength(index, end, block))
        expect(to).toBeGreaterThan(from)
        position += to - from
      }
      expect(position).toBe(end)
    }),
  )
})
