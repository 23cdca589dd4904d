import { blockLength } from './block-plan.ts'

/** A file as the cache sees it. */
export interface BlockSource {
  /** Names these very bytes: another file under the same path has another id. */
  readonly id: string
  readonly sizeBytes: number
  /** Fills `length` bytes of `target` from `position` on, or rejects; never fills less. */
  read(target: Buffer, length: number, position: number): Promise<void>
}

/** Bytes of one block, valid until they are released. */
export interface Block {
  readonly bytes: Buffer
}

export interface BlockCache {
  readonly blockBytes: number
  /**
   * Pins a block, reading it when nobody has; readers of one block share one read. `undefined`: every buffer is
   * pinned, and the caller must do without. With `retain` the block is kept for others after its release; without,
   * its buffer is the next to be used again, so that a lone reader of a huge file walks through a few hot buffers.
   */
  acquire(source: BlockSource, index: number, retain: boolean): Block | Promise<Block> | undefined
  /** Gives up one pin. The bytes may change at once. */
  release(block: Block): void
  /** Buffers in use by somebody, and how many there may be at most. */
  pinned(): number
  readonly capacity: number
}

interface Slot extends Block {
  key: string
  pins: number
  retain: boolean
  loading: Promise<Slot> | undefined
}

/**
 * File blocks in memory, least recently used out first, bounded by `sizeBytes` in all: pinned blocks count, so what
 * slow readers hold is part of the bound. Buffers are never given back, so the resident set stays flat.
 */
export function createBlockCache({
  sizeBytes,
  blockBytes = 512 * 1024,
}: {
  readonly sizeBytes: number
  readonly blockBytes?: number
}): BlockCache {
  const capacity = Math.max(1, Math.floor(sizeBytes / blockBytes))
  const byKey = new Map<string, Slot>()
  /** Nobody's, in the order of their last use. */
  const idle = new Set<Slot>()
  /** Nobody's, and not worth keeping; the last one is the warmest. */
  const spent: Slot[] = []
  let allocated = 0
  let pinnedCount = 0

  function acquire(source: BlockSource, index: number, retain: boolean): Block | Promise<Block> | undefined {
    const key = `${source.id}#${index}`
    const known = byKey.get(key)
    if (known !== undefined) {
      if (known.pins === 0) {
        if (!idle.delete(known)) spent.splice(spent.indexOf(known), 1)
        pinnedCount += 1
      }
      known.pins += 1
      known.retain ||= retain
      return known.loading ?? known
    }
    const slot = freeSlot()
    if (slot === undefined) return undefined
    slot.key = key
    slot.pins = 1
    slot.retain = retain
    pinnedCount += 1
    byKey.set(key, slot)
    const length = blockLength(index, source.sizeBytes, blockBytes)
    slot.loading = source.read(slot.bytes, length, index * blockBytes).then(
      () => {
        slot.loading = undefined
        return slot
      },
      (error: unknown) => {
        // Whoever waited learns of the failure and holds nothing; half-filled bytes are never found again (G1).
        byKey.delete(key)
        slot.key = ''
        slot.pins = 0
        slot.loading = undefined
        pinnedCount -= 1
        spent.push(slot)
        throw error
      },
    )
    // A read ahead may fail before anybody waits for it; that must not end the process.
    slot.loading.catch(() => undefined)
    return slot.loading
  }

  function freeSlot(): Slot | undefined {
    const warm = spent.pop()
    if (warm !== undefined) return forget(warm)
    if (allocated < capacity) {
      allocated += 1
      // Slow: a buffer of its own, not a slice of Node's shared pool.
      return {
        bytes: Buffer.allocUnsafeSlow(blockBytes),
        key: '',
        pins: 0,
        retain: false,
        loading: undefined,
      }
    }
    const [oldest] = idle
    if (oldest === undefined) return undefined
    idle.delete(oldest)
    return forget(oldest)
  }

  function forget(slot: Slot): Slot {
    if (slot.key !== '') byKey.delete(slot.key)
    return slot
  }

  function release(block: Block): void {
    const slot = block as Slot
    slot.pins -= 1
    if (slot.pins > 0) return
    pinnedCount -= 1
    if (slot.retain) idle.add(slot)
    else spent.push(slot)
  }

  return { blockBytes, acquire, release, pinned: () => pinnedCount, capacity }
}
