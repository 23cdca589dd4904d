import { readSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { descriptorOf, type KernelFiles } from './kernel-files.ts'
import { FileCutError, type OpenFile } from './open-files.ts'
import type { Turns } from './turns.ts'
import { writeResponse } from './write-response.ts'

/** What a turn hands over for one client. */
const sliceBytes = 2 * 1024 * 1024
/** Written by Node's own means wherever the socket is full: Node tells when there is room again. */
const pieceBytes = 16 * 1024
/** At most this much between two such pieces, which also show Node that the connection is alive. */
const longestRunBytes = 64 * 1024 * 1024

export interface KernelTransfer {
  readonly response: ServerResponse
  readonly file: OpenFile
  readonly start: number
  /** Exclusive. */
  readonly end: number
  onProgress(bytes: number): void
}

/** Where it came to. */
export interface KernelTransferEnd {
  /** `unable`: the rest has to be sent by other means. */
  readonly kind: 'done' | 'gone' | 'unable'
  /** Of the first byte that was not handed to the system. */
  readonly position: number
}

/** Bytes that nobody looks at: reading them brings a part of a file into memory. */
const unseen = Buffer.allocUnsafeSlow(sliceBytes)

/**
 * Sends a range of a file after the head of its response, without a copy through this process. The response is not
 * ended.
 * @throws when the file cannot be read on: the caller must break the connection, for the promised length is sent
 */
export async function sendByKernel(
  { response, file, start, end, onProgress }: KernelTransfer,
  { kernel, turns }: { readonly kernel: KernelFiles; readonly turns: Turns },
): Promise<KernelTransferEnd> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - start))
  let position = start

  function advance(bytes: number): void {
    position += bytes
    onProgress(bytes)
  }

  /** `false`: the client went away. Afterwards everything before it has left Node. */
  async function writePiece(): Promise<boolean> {
    const bytes = Math.min(piece.length, end - position)
    // In memory it is read at once: a trip to another thread and back costs more than all the rest.
    const isRead =
      kernel.isResident(file.descriptor, position, bytes) &&
      readSync(file.descriptor, piece, 0, bytes, position) === bytes
    if (!isRead) await file.read(piece, bytes, position)
    if (response.destroyed) return false
    if (!(await writeResponse(response, [piece.subarray(0, bytes)]).done)) return false
    advance(bytes)
    return true
  }

  await turns.next()
  while (position < end) {
    if (response.destroyed || !(await writePiece())) return { kind: 'gone', position }
    const pause = position + longestRunBytes
    let hasRoom = true
    while (hasRoom && position < Math.min(end, pause)) {
      const bytes = Math.min(sliceBytes, end - position)
      if (!kernel.isResident(file.descriptor, position, bytes)) await file.read(unseen, bytes, position)
      await turns.next()
      // Asked for each time: a descriptor that was closed may be another client's by now.
      const socket =
        response.destroyed || response.socket === null ? undefined : descriptorOf(response.socket)
      if (socket === undefined) return { kind: 'gone', position }
      const result = kernel.send(socket, file.descriptor, position, bytes)
      if (result.kind === 'cut') throw new FileCutError(file.id)
      if (result.kind === 'gone' || result.kind === 'unable') return { kind: result.kind, position }
      if (result.kind === 'sent') advance(result.bytes)
      hasRoom = result.kind === 'sent' && result.bytes === bytes
    }
  }
  return { kind: 'done', position }
}
