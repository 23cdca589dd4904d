import type { BlockWrap } from './block-number.ts'
import type { Content } from './content.ts'
import {
  type BlockLayout,
  createBlockLayout,
  dataRange,
  type FramedRun,
  frameBytes,
  framedBytes,
  frameInPlace,
  unframedOffset,
} from './framed-image.ts'

/** A file as packets of one block size. Pieces of it are in memory, shared by every transfer, or are read when needed. */
export interface FramedImage {
  readonly layout: BlockLayout
  /** A run that holds `block` and goes on to `last` or to the end of a piece, when it can be had at once. */
  runNow(block: number, last: number, nowMs: number): FramedRun | undefined
  /** The same, read from disk. */
  load(block: number, last: number, nowMs: number): Promise<FramedRun>
  /** Begins to read the piece after the one that holds `block`, once `block` is past its middle. */
  readAhead(block: number, nowMs: number): void
  /** The transfer needs it no more. */
  release(): void
}

export interface FrameCacheOptions {
  /** Framed bytes kept in memory, at most. */
  readonly maxBytes: number
  readonly wrap: BlockWrap
}

export interface FrameCache {
  image(content: Content, blockSize: number): FramedImage
  readonly heldBytes: number
}

/** A piece is read in one go: some 170 blocks of 1468 bytes. */
const segmentBytes = 256 * 1024
const mostBlocksInSegment = 1024
/** A piece used so recently is not thrown out for another: a window is then read alone, and not kept. */
const recentlyUsedMs = 2_000

interface Segment {
  readonly image: Image
  readonly index: number
  readonly run: FramedRun
  usedAt: number
}

interface Image {
  readonly key: string | undefined
  readonly layout: BlockLayout
  readonly blocksInSegment: number
  readonly segments: Map<number, Segment>
  readonly loading: Map<number, Promise<FramedRun>>
  users: number
}

/** Whole windows of 4, 8 or 16 fit a piece, so that few of them fall into two. */
function blocksInSegment(stride: number): number {
  const fitting = Math.min(Math.floor(segmentBytes / stride), mostBlocksInSegment)
  return fitting >= 16 ? fitting - (fitting % 16) : Math.max(fitting, 1)
}

/**
 * Headers and blocks are laid out once per file, block size and piece, in one Buffer that all transfers send from.
 * What is held never exceeds `maxBytes`; when more is wanted at once, transfers read their windows one by one.
 */
export function createFrameCache({ maxBytes, wrap }: FrameCacheOptions): FrameCache {
  const images = new Map<string, Image>()
  const segments = new Set<Segment>()
  let heldBytes = 0

  function drop(segment: Segment): void {
    const { image } = segment
    segments.delete(segment)
    image.segments.delete(segment.index)
    heldBytes -= segment.run.bytes.length
    forgetWhenUnused(image)
  }

  function forgetWhenUnused(image: Image): void {
    if (image.users > 0) return
    if (image.key === undefined) for (const segment of [...image.segments.values()]) drop(segment)
    else if (image.segments.size + image.loading.size === 0 && images.get(image.key) === image) {
      images.delete(image.key)
    }
  }

  function leastRecentlyUsed(): Segment | undefined {
    let oldest: Segment | undefined
    for (const segment of segments)
      if (oldest === undefined || segment.usedAt < oldest.usedAt) oldest = segment
    return oldest
  }

  /** Makes room by dropping what nobody used lately; `false` when all of it is in use. */
  function makeRoom(neededBytes: number, nowMs: number): boolean {
    if (neededBytes > maxBytes) return false
    while (heldBytes + neededBytes > maxBytes) {
      const oldest = leastRecentlyUsed()
      if (oldest === undefined || nowMs - oldest.usedAt < recentlyUsedMs) return false
      drop(oldest)
    }
    return true
  }

  function keep(image: Image, index: number, run: FramedRun, nowMs: number): void {
    const segment: Segment = { image, index, run, usedAt: nowMs }
    segments.add(segment)
    image.segments.set(index, segment)
    heldBytes += run.bytes.length
    forgetWhenUnused(image)
  }

  function indexOf(image: Image, block: number): number {
    return Math.floor((block - 1) / image.blocksInSegment)
  }

  function bounds(image: Image, index: number): { first: number; last: number } {
    const first = index * image.blocksInSegment + 1
    return { first, last: Math.min(first + image.blocksInSegment - 1, image.layout.blockCount) }
  }

  async function read(image: Image, content: Content, first: number, last: number): Promise<FramedRun> {
    const { layout } = image
    if (content.source.kind === 'memory') return frameBytes(content.source.bytes, layout, first, last)
    const bytes = Buffer.allocUnsafeSlow(framedBytes(layout, first, last))
    await content.source.read(bytes, unframedOffset(first, last), dataRange(layout, first, last).start)
    return frameInPlace(bytes, layout, first, last)
  }

  async function readAndKeep(
    image: Image,
    content: Content,
    index: number,
    nowMs: number,
  ): Promise<FramedRun> {
    const { first, last } = bounds(image, index)
    const reservedBytes = framedBytes(image.layout, first, last)
    heldBytes += reservedBytes
    try {
      const run = await read(image, content, first, last)
      keep(image, index, run, nowMs)
      return run
    } finally {
      heldBytes -= reservedBytes
      image.loading.delete(index)
    }
  }

  /** Reads a piece for everybody: one reading at a time, and none when there is no room to keep it. */
  function loadSegment(
    image: Image,
    content: Content,
    index: number,
    nowMs: number,
  ): Promise<FramedRun> | undefined {
    const underWay = image.loading.get(index)
    if (underWay !== undefined) return underWay
    const { first, last } = bounds(image, index)
    if (!makeRoom(framedBytes(image.layout, first, last), nowMs)) return undefined
    const loading = readAndKeep(image, content, index, nowMs)
    image.loading.set(index, loading)
    return loading
  }

  /** What is in memory is framed when it is wanted: the whole piece if it can be kept, else these blocks alone. */
  function frameNow(image: Image, bytes: Buffer, block: number, last: number, nowMs: number): FramedRun {
    const index = indexOf(image, block)
    const piece = bounds(image, index)
    if (!makeRoom(framedBytes(image.layout, piece.first, piece.last), nowMs)) {
      return frameBytes(bytes, image.layout, block, Math.min(last, piece.last))
    }
    const run = frameBytes(bytes, image.layout, piece.first, piece.last)
    keep(image, index, run, nowMs)
    return run
  }

  function open(content: Content, blockSize: number): Image {
    const key = content.id === undefined ? undefined : `${blockSize} ${content.id}`
    const existing = key === undefined ? undefined : images.get(key)
    if (existing !== undefined) return existing
    const layout = createBlockLayout(content.sizeBytes, blockSize, wrap)
    const image: Image = {
      key,
      layout,
      blocksInSegment: blocksInSegment(blockSize + 4),
      segments: new Map(),
      loading: new Map(),
      users: 0,
    }
    if (key !== undefined) images.set(key, image)
    return image
  }

  return {
    get heldBytes() {
      return heldBytes
    },
    image(content, blockSize) {
      const image = open(content, blockSize)
      image.users += 1
      return {
        layout: image.layout,
        runNow(block, last, nowMs) {
          const segment = image.segments.get(indexOf(image, block))
          if (segment !== undefined) {
            segment.usedAt = nowMs
            return segment.run
          }
          const { source } = content
          return source.kind === 'memory' ? frameNow(image, source.bytes, block, last, nowMs) : undefined
        },
        load(block, last, nowMs) {
          const index = indexOf(image, block)
          const loading = loadSegment(image, content, index, nowMs)
          return loading ?? read(image, content, block, Math.min(last, bounds(image, index).last))
        },
        readAhead(block, nowMs) {
          if (content.source.kind === 'memory') return
          const index = indexOf(image, block)
          const { first, last } = bounds(image, index)
          if (last === image.layout.blockCount || block - first < image.blocksInSegment / 2) return
          if (!image.segments.has(index + 1)) loadSegment(image, content, index + 1, nowMs)?.catch(() => {})
        },
        release() {
          image.users -= 1
          forgetWhenUnused(image)
        },
      }
    },
  }
}
