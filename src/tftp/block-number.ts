/** What follows block 65535 on the wire: 0 for nearly everyone, 1 for some old clients (field case 67). */
export type BlockWrap = 0 | 1

/** The 16-bit number on the wire for a block counted from 1 without end. */
export function wireBlock(block: number, wrap: BlockWrap): number {
  if (wrap === 0) return block & 0xffff
  return block <= 0 ? 0 : ((block - 1) % 0xffff) + 1
}

/**
 * Finds the block that an acknowledgement names among those `acknowledged` to `sent`; `undefined` when it names none
 * of them. Blocks within one window are far fewer than 65535, so there is at most one.
 */
export function blockFromWire(
  wire: number,
  acknowledged: number,
  sent: number,
  wrap: BlockWrap,
): number | undefined {
  for (let block = acknowledged; block <= sent; block += 1) {
    if (wireBlock(block, wrap) === wire) return block
  }
  return undefined
}
