import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { TftpPacket } from './packet.ts'

/** Where one transfer's packets leave from. */
export interface TransferEndpoint {
  readonly localPort: number
  send(packet: Buffer): void
  /** Sends the packets that lie one after the other in `bytes`, a new one every `stride` bytes. */
  sendRun(bytes: Buffer, offset: number, length: number, stride: number): void
  close(): void
}

/** What a transfer hears from its endpoint. */
export interface EndpointListener {
  /** What comes before `onPacket`, for a capture: valid during the call alone. */
  onBytes?(bytes: Uint8Array, start: number, length: number): void
  onPacket(packet: TftpPacket): void
  /** The network says that nobody listens on the client's port. */
  onPortClosed(): void
  /** The kernel could not cut a window; it has been sent packet by packet, and so is all that follows. */
  onSegmentationFailed(cause: unknown): void
}

export type EndpointResult =
  | { readonly kind: 'open'; readonly endpoint: TransferEndpoint }
  | { readonly kind: 'none'; readonly reason: 'no-free-port' | 'socket-failed'; readonly cause?: unknown }

/** How transfers get their endpoints. */
export interface EndpointSource {
  /** `segmentBytes`: packets of this size may be cut out of one send by the kernel; absent: they may not. */
  open(
    peer: { readonly address: string; readonly port: number },
    segmentBytes: number | undefined,
    listener: EndpointListener,
  ): Promise<EndpointResult>
  close(): void
}

/** Addresses are always literals here: resolving them at once saves a tick a send. */
function literalLookup(
  hostname: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, hostname, isIPv6(hostname) ? 6 : 4)
}

export function createLiteralSocket(localAddress: string, recvBufferSize?: number): Socket {
  return createSocket({
    type: isIPv6(localAddress) ? 'udp6' : 'udp4',
    lookup: literalLookup,
    ...(isIPv6(localAddress) ? { ipv6Only: true } : {}),
    ...(recvBufferSize === undefined ? {} : { recvBufferSize }),
  })
}

/** Binds; rejects with node's error, and then the socket is closed. */
export function bindSocket(
  socket: Socket,
  where: { readonly address: string; readonly port: number } | { readonly fd: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    function fail(error: Error): void {
      socket.close()
      reject(error)
    }
    socket.once('error', fail)
    socket.once('listening', () => {
      socket.off('error', fail)
      resolve()
    })
    socket.bind({ ...where, exclusive: true })
  })
}

export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
