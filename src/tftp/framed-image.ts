import type { BlockWrap } from './block-number.ts'
import { wireBlock } from './block-number.ts'
import { dataHeaderBytes, writeDataHeader } from './packet.ts'

/** How a file falls into DATA packets. */
export interface BlockLayout {
  readonly sizeBytes: number
  readonly blockSize: number
  readonly wrap: BlockWrap
  /** The last block is shorter than the others, and empty when the size is a multiple of theirs (RFC 1350 §6). */
  readonly blockCount: number
}

export function createBlockLayout(sizeBytes: number, blockSize: number, wrap: BlockWrap): BlockLayout {
  return { sizeBytes, blockSize, wrap, blockCount: Math.floor(sizeBytes / blockSize) + 1 }
}

/** Packets of neighbouring blocks, one after the other in one Buffer: any run of them is an offset and a length. */
export interface FramedRun {
  readonly bytes: Buffer
  readonly firstBlock: number
  readonly lastBlock: number
  /** Bytes from the start of one packet to the start of the next. */
  readonly stride: number
}

/** The part of the file that blocks `first` to `last` carry. */
export function dataRange(layout: BlockLayout, first: number, last: number): { start: number; end: number } {
  const start = (first - 1) * layout.blockSize
  return { start, end: Math.min(last * layout.blockSize, layout.sizeBytes) }
}

/** Bytes that the packets of blocks `first` to `last` take. */
export function framedBytes(layout: BlockLayout, first: number, last: number): number {
  const { start, end } = dataRange(layout, first, last)
  return (last - first + 1) * dataHeaderBytes + (end - start)
}

/** Where the data lies that `frameInPlace` expects: at the end of the Buffer, as one piece. */
export function unframedOffset(first: number, last: number): number {
  return (last - first + 1) * dataHeaderBytes
}

/**
 * Lays headers between the blocks of a Buffer whose data lies at its end as one piece. Each block moves towards the
 * front by what its followers' headers need, so nothing is overwritten before it has moved.
 */
export function frameInPlace(
  bytes: Buffer,
  layout: BlockLayout,
  firstBlock: number,
  lastBlock: number,
): FramedRun {
  const stride = layout.blockSize + dataHeaderBytes
  let from = unframedOffset(firstBlock, lastBlock)
  let to = 0
  for (let block = firstBlock; block <= lastBlock; block += 1) {
    const length = Math.min(layout.blockSize, bytes.length - from)
    bytes.copyWithin(to + dataHeaderBytes, from, from + length)
    writeDataHeader(bytes, to, wireBlock(block, layout.wrap))
    from += length
    to += dataHeaderBytes + length
  }
  return { bytes, firstBlock, lastBlock, stride }
}

/** Frames blocks of a file that is in memory. */
export function frameBytes(content: Buffer, layout: BlockLayout, first: number, last: number): FramedRun {
  const { start, end } = dataRange(layout, first, last)
  const bytes = Buffer.allocUnsafeSlow(framedBytes(layout, first, last))
  content.copy(bytes, unframedOffset(first, last), start, end)
  return frameInPlace(bytes, layout, first, last)
}
