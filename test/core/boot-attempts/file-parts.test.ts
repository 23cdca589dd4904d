import { expect, it } from 'vitest'
import { FileParts } from '../../../src/core/boot-attempts/file-parts.ts'

it.each([
  ['nothing', [], 0, false],
  ['its last bytes', [[90, 100]], 10, false],
  [
    'parts out of order',
    [
      [75, 100],
      [25, 50],
      [0, 25],
      [50, 75],
    ],
    100,
    true,
  ],
  [
    'parts that overlap',
    [
      [0, 60],
      [40, 100],
      [10, 20],
    ],
    100,
    true,
  ],
  [
    'parts with a hole',
    [
      [0, 40],
      [41, 100],
    ],
    99,
    false,
  ],
  [
    'the same part again',
    [
      [0, 40],
      [0, 40],
    ],
    40,
    false,
  ],
  ['a part of no bytes', [[100, 100]], 0, false],
] as const)('of a file of 100 bytes, %s', (_, said, bytes, isWhole) => {
  const parts = new FileParts()
  for (const [from, to] of said) parts.add(from, to)
  expect([parts.bytes, parts.covers(100)]).toEqual([bytes, isWhole])
})

it('keeps no more parts than it must, and those at the start', () => {
  const parts = new FileParts()
  for (let place = 0; place < 1_000; place += 1) parts.add(place * 2, place * 2 + 1)
  expect(parts.bytes).toBe(64)
  expect(parts.covers(1)).toBe(true)
})
