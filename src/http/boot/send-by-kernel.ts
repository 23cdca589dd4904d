import { readSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { descriptorOf, type KernelFiles } from './kernel-files.ts'
import { FileChangedError, type OpenFile } from './open-files.ts'
import type { Turns } from './turns.ts'
import { writeResponse } from './write-response.ts'

/** What a turn hands over for one client. */
const sliceBytes = 1024 * 1024
/** Written by Node's own means wherever the socket is full: Node tells when there is room again. */
const pieceBytes = 16 * 1024
/** At most this much between two such pieces, which also show Node that the connection is alive. */
const longestRunBytes = 64 * 1024 * 1024
/** A client that is as fast as we are has its last bytes within so many turns: some 2 ms. */
const turnsBeforePauses = 250
/** How long to wait before looking again whether all has arrived. */
const longestPauseMs = 50

export interface KernelTransfer {
  readonly response: ServerResponse
  readonly file: OpenFile
  readonly start: number
  /** Exclusive. */
  readonly end: number
  onProgress(bytes: number): void
}

export interface SendByKernelParts {
  readonly kernel: KernelFiles
  readonly turns: Turns
  readonly pause: (ms: number) => Promise<void>
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
 * ended. What waits in a socket is the file itself, so the last piece is kept back until the client has everything
 * before it and the file is seen to be unchanged: nobody ever has a whole file that was written into on its way (G1).
 * @throws when the file cannot be read on or was changed: the caller must break the connection
 */
export async function sendByKernel(
  { response, file, start, end, onProgress }: KernelTransfer,
  { kernel, turns, pause }: SendByKernelParts,
): Promise<KernelTransferEnd> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - start))
  const lastPiece = end - piece.length
  let position = start

  function advance(bytes: number): void {
    position += bytes
    onProgress(bytes)
  }

  /** Asked for each time: a descriptor that was closed may be another client's by now. */
  function socketDescriptor(): number | undefined {
    return response.destroyed || response.socket === null ? undefined : descriptorOf(response.socket)
  }

  function checkUnchanged(): void {
    if (!file.isUnchanged()) throw new FileChangedError(file.id)
  }

  /** `false`: the client went away. Afterwards everything before it has left Node. */
  async function writePiece(): Promise<boolean> {
    const bytes = Math.min(piece.length, (position < lastPiece ? lastPiece : end) - position)
    // In memory it is read at once: a trip to another thread and back costs more than all the rest.
    const isRead =
      kernel.isResident(file.descriptor, position, bytes) &&
      readSync(file.descriptor, piece, 0, bytes, position) === bytes
    if (!isRead) await file.read(piece, bytes, position)
    checkUnchanged()
    if (response.destroyed) return false
    if (!(await writeResponse(response, [piece.subarray(0, bytes)]).done)) return false
    advance(bytes)
    return true
  }

  /** `false`: the client went away. */
  async function hasArrived(): Promise<boolean> {
    let before = Infinity
    for (let looks = 0; ; looks += 1) {
      const socket = socketDescriptor()
      if (socket === undefined) return false
      const left = kernel.unacknowledged(socket)
      if (left === 0) return true
      // Node sees nothing of it and would give the connection up.
      if (left < before) response.socket?.setTimeout(response.socket.timeout ?? 0)
      before = left
      if (looks < turnsBeforePauses) await turns.next()
      else await pause(Math.min(2 ** (looks - turnsBeforePauses), longestPauseMs))
    }
  }

  await turns.next()
  while (position < end) {
    if (position === lastPiece && position > start && !(await hasArrived())) return { kind: 'gone', position }
    if (response.destroyed || !(await writePiece())) return { kind: 'gone', position }
    const runEnd = Math.min(lastPiece, position + longestRunBytes)
    let hasRoom = true
    while (hasRoom && position < runEnd) {
      const bytes = Math.min(sliceBytes, runEnd - position)
      if (!kernel.isResident(file.descriptor, position, bytes)) await file.read(unseen, bytes, position)
      await turns.next()
      const socket = socketDescriptor()
      if (socket === undefined) return { kind: 'gone', position }
      const result = kernel.send(socket, file.descriptor, position, bytes)
      checkUnchanged()
      if (result.kind === 'cut') throw new FileChangedError(file.id)
      if (result.kind === 'gone' || result.kind === 'unable') return { kind: result.kind, position }
      if (result.kind === 'sent') advance(result.bytes)
      hasRoom = result.kind === 'sent' && result.bytes === bytes
    }
  }
  return { kind: 'done', position }
}
