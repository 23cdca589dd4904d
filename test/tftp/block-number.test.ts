import { describe, expect, it } from 'vitest'
import { blockFromWire, wireBlock } from '../../src/tftp/block-number.ts'

describe('block numbers on the wire (case 67)', () => {
  it.each([
    [1, 1, 1],
    [32767, 32767, 32767],
    [32768, 32768, 32768],
    [65535, 65535, 65535],
    [65536, 0, 1],
    [65537, 1, 2],
    [131070, 65534, 65535],
    [131071, 65535, 1],
    [131072, 0, 2],
    [0, 0, 0],
  ])('block %i is %i, or %i where 1 follows 65535', (block, wrapToZero, wrapToOne) => {
    expect(wireBlock(block, 0)).toBe(wrapToZero)
    expect(wireBlock(block, 1)).toBe(wrapToOne)
  })

  it.each([
    ['within a window', 5, 3, 6, 5],
    ['the last acknowledged', 3, 3, 6, 3],
    ['before the window', 2, 3, 6, undefined],
    ['after the window', 7, 3, 6, undefined],
    ['over the wrap', 0, 65530, 65546, 65536],
    ['over the wrap, before it', 65535, 65530, 65546, 65535],
    ['over the wrap, after it', 10, 65530, 65546, 65546],
    ['zero long before the wrap', 0, 100, 116, undefined],
  ] as const)('an acknowledgement %s', (_, wire, acknowledged, sent, expected) => {
    expect(blockFromWire(wire, acknowledged, sent, 0)).toBe(expected)
  })

  it('with 1 after 65535, 0 names nothing', () => {
    expect(blockFromWire(0, 65530, 65546, 1)).toBeUndefined()
    expect(blockFromWire(1, 65530, 65546, 1)).toBe(65536)
  })
})
