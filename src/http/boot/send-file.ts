import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import type { Block, BlockCache } from './block-cache.ts'
import { blockSliceAt } from './block-plan.ts'
import type { KernelFiles } from './kernel-files.ts'
import type { OpenFile } from './open-files.ts'
import { sendByKernel } from './send-by-kernel.ts'
import type { Turns } from './turns.ts'
import { writeResponse } from './write-response.ts'

/** Used when every cache buffer is pinned: small, because each slow client may then have one. */
const ownBufferBytes = 64 * 1024
/** More than a system keeps for one socket (Linux: 4 MiB, some tune it to 16): who took it without a wait is fast. */
const fastBytes = 32 * 1024 * 1024
/**
 * A client that takes less, or one of several, costs less when the kernel sends; a lone one at the speed of memory has
 * more from a few hot buffers.
 */
const slowBytesPerMs = 300_000

export interface Transfer {
  /** Its head is written or set; bodies are sent as they are. */
  readonly response: ServerResponse
  readonly file: OpenFile
  readonly start: number
  /** Exclusive. */
  readonly end: number
  /** Called after each write that the socket took. */
  onProgress(bytes: number): void
}

export interface SendFileParts {
  readonly cache: BlockCache
  readonly turns: Turns
  /** Most blocks that one write may hold for a client slower than we are. */
  readonly maxBlocksAtOnce: number
  /** From `loadKernelFiles`; absent: blocks go through this process. */
  readonly kernel?: KernelFiles | undefined
  /** Until then a lone client only fills the buffers of its connection, which says nothing of its speed. */
  readonly settlingMs: number
  readonly pause: (ms: number) => Promise<void>
  readonly clock: Clock
}

/**
 * Sends a range of a file and ends the response. Resolves with `true` when every byte was handed to the system,
 * `false` when the client went away. A client as fast as we are gets one block a turn; one that makes us wait gets
 * many in one write, because fewer and larger writes are what lowers the CPU cost of slow clients. It gets them until
 * it has taken far more than its socket's buffer without a wait: filling that buffer says nothing of the client.
 * @throws when the file cannot be read on: the caller must break the connection, for the promised length is sent
 */
export async function sendFile(transfer: Transfer, parts: SendFileParts): Promise<boolean> {
  const { response, file, start, end, onProgress } = transfer
  const { cache, turns, maxBlocksAtOnce, settlingMs, pause, clock } = parts
  const isWorthKeeping = file.sizeBytes <= (cache.capacity * cache.blockBytes) / 2
  const startedAt = clock.now()
  let { kernel } = parts
  let position = start
  let blocksAtOnce = 1
  let bytesSinceWait = 0
  let ahead: Block | Promise<Block> | undefined
  let own: Buffer | undefined

  function blockAt(offset: number): Block | Promise<Block> | undefined {
    const retain = isWorthKeeping || file.readers() > 1
    return cache.acquire(file, blockSliceAt(offset, end, cache.blockBytes).index, retain)
  }

  function isForKernel(): boolean {
    if (file.readers() > 1) return true
    const elapsedMs = clock.now() - startedAt
    return elapsedMs >= settlingMs && position - start <= elapsedMs * slowBytesPerMs
  }

  try {
    await turns.next()
    while (position < end && !response.destroyed) {
      if (kernel !== undefined && isForKernel()) {
        await giveUp(ahead, cache)
        ahead = undefined
        const rest = { response, file, start: position, end, onProgress }
        const sent = await sendByKernel(rest, { kernel, turns, pause })
        if (sent.kind === 'gone') return false
        position = sent.position
        kernel = undefined
        continue
      }
      const held: Block[] = []
      const chunks: Buffer[] = []
      let bytes = 0
      let hasWaited = false
      try {
        for (let wanted = blocksAtOnce; wanted > 0 && position + bytes < end; wanted -= 1) {
          if (held.length > 0 && cache.pinned() >= cache.capacity / 2) break
          const found = ahead ?? blockAt(position + bytes)
          ahead = undefined
          if (found === undefined) break
          hasWaited ||= found instanceof Promise
          const block = await found
          held.push(block)
          const { from, to } = blockSliceAt(position + bytes, end, cache.blockBytes)
          chunks.push(block.bytes.subarray(from, to))
          bytes += to - from
        }
        if (chunks.length === 0) {
          own ??= Buffer.allocUnsafeSlow(ownBufferBytes)
          bytes = Math.min(own.length, end - position)
          await file.read(own, bytes, position)
          hasWaited = true
          chunks.push(own.subarray(0, bytes))
        }
        // One read may wake many clients at once.
        if (hasWaited) await turns.next()
        if (response.destroyed) break
        const written = writeResponse(response, chunks)
        if (blocksAtOnce === 1 && position + bytes < end) ahead = blockAt(position + bytes)
        await turns.next()
        const isFast = written.isDone()
        if (!(await written.done)) break
        if (!isFast) await turns.next()
        bytesSinceWait = isFast ? bytesSinceWait + bytes : 0
        if (!isFast) blocksAtOnce = Math.min(blocksAtOnce * 2, maxBlocksAtOnce)
        else if (bytesSinceWait > fastBytes) blocksAtOnce = 1
        position += bytes
        onProgress(bytes)
      } finally {
        for (const block of held) cache.release(block)
      }
    }
  } finally {
    await giveUp(ahead, cache)
  }
  if (position < end) return false
  response.end()
  return true
}

async function giveUp(ahead: Block | Promise<Block> | undefined, cache: BlockCache): Promise<void> {
  if (ahead === undefined) return
  try {
    cache.release(await ahead)
  } catch {
    // A read ahead that failed holds nothing; nobody wanted its bytes any more.
  }
}
