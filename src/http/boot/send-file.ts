import type { ServerResponse } from 'node:http'
import type { Block, BlockCache } from './block-cache.ts'
import { blockSliceAt } from './block-plan.ts'
import type { OpenFile } from './open-files.ts'
import type { Turns } from './turns.ts'

/** Used when every cache buffer is pinned: small, because each slow client may then have one. */
const ownBufferBytes = 64 * 1024

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
}

/**
 * Sends a range of a file and ends the response. Resolves with `true` when every byte was handed to the system,
 * `false` when the client went away. A client as fast as we are gets one block a turn; one that makes us wait gets
 * several in one write, because fewer and larger writes are what lowers the CPU cost of slow clients.
 * @throws when the file cannot be read on: the caller must break the connection, for the promised length is sent
 */
export async function sendFile(transfer: Transfer, parts: SendFileParts): Promise<boolean> {
  const { response, file, start, end, onProgress } = transfer
  const { cache, turns, maxBlocksAtOnce } = parts
  const isWorthKeeping = file.sizeBytes <= (cache.capacity * cache.blockBytes) / 2
  let position = start
  let blocksAtOnce = 1
  let ahead: Block | Promise<Block> | undefined
  let own: Buffer | undefined

  function blockAt(offset: number): Block | Promise<Block> | undefined {
    const retain = isWorthKeeping || file.readers() > 1
    return cache.acquire(file, blockSliceAt(offset, end, cache.blockBytes).index, retain)
  }

  try {
    await turns.next()
    while (position < end && !response.destroyed) {
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
        const written = write(response, chunks)
        if (blocksAtOnce === 1 && position + bytes < end) ahead = blockAt(position + bytes)
        await turns.next()
        const isFast = written.isDone()
        if (!(await written.done)) break
        if (!isFast) await turns.next()
        blocksAtOnce = isFast ? 1 : Math.min(blocksAtOnce * 2, maxBlocksAtOnce)
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

interface Written {
  /** `false`: the connection is gone. Settles only when nobody reads the chunks any more. */
  readonly done: Promise<boolean>
  isDone(): boolean
}

function write(response: ServerResponse, chunks: readonly Buffer[]): Written {
  let isDone = false
  const done = new Promise<boolean>((resolve) => {
    function settle(isTaken: boolean): void {
      isDone = true
      response.off('close', onClose)
      resolve(isTaken)
    }
    function onClose(): void {
      settle(false)
    }
    // A response whose socket went away calls no callback; its close comes when the system is done with the bytes.
    response.on('close', onClose)
    const last = chunks.length - 1
    // All writes of one tick leave in one system call.
    chunks.forEach((chunk, index) => {
      if (index < last) response.write(chunk)
      else response.write(chunk, (error) => settle(error === null || error === undefined))
    })
  })
  return { done, isDone: () => isDone }
}
