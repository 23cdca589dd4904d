import { readFileSync } from 'node:fs'

/** The part of a bound `dgram` socket that is used. */
export interface BufferedSocket {
  getRecvBufferSize(): number
  setRecvBufferSize(sizeBytes: number): void
}

/**
 * Asks for room for a burst on a socket that a service manager opened, unless it has seen to that itself:
 * `ReceiveBuffer=` may go beyond `net.core.rmem_max`, and what we asked for would cut it back to that.
 * @param systemDefaultBytes what an untouched socket has; `undefined` where it cannot be told: nothing is changed then
 */
export function widenReceiveBuffer(
  socket: BufferedSocket,
  sizeBytes: number,
  systemDefaultBytes = readSystemDefault(),
): void {
  if (socket.getRecvBufferSize() === systemDefaultBytes) socket.setRecvBufferSize(sizeBytes)
}

function readSystemDefault(): number | undefined {
  try {
    return Number(readFileSync('/proc/sys/net/core/rmem_default', 'latin1'))
  } catch {
    return undefined
  }
}
