/** A part of one block of a file, in the order in which it is sent. */
export interface BlockSlice {
  readonly index: number
  /** Offsets within the block; `to` is exclusive. */
  readonly from: number
  readonly to: number
}

/** The slice that starts at `position` and ends with its block or at `end`, whichever comes first. */
export function blockSliceAt(position: number, end: number, blockBytes: number): BlockSlice {
  const index = Math.floor(position / blockBytes)
  const blockStart = index * blockBytes
  return { index, from: position - blockStart, to: Math.min(end - blockStart, blockBytes) }
}

/** How many bytes of a file its block `index` holds; the last block is short. */
export function blockLength(index: number, sizeBytes: number, blockBytes: number): number {
  return Math.min(blockBytes, sizeBytes - index * blockBytes)
}
