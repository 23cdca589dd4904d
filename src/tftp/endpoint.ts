import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { segmentedSendBytes, type UdpGso } from './udp-gso.ts'

/** Where one transfer's packets leave from. */
export interface TransferEndpoint {
  send(packet: Buffer): void
  /** Sends the packets that lie one after the other in `bytes`, a new one every `stride` bytes. */
  sendRun(bytes: Buffer, offset: number, length: number, stride: number): void
  close(): void
}

/** Addresses are always literals here: resolving them at once saves a tick a send. */
export function literalLookup(
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

/** Single-port mode: everything leaves by the socket that listens, so that one port in a firewall is enough. */
export function createSharedEndpoint(socket: Socket, port: number, address: string): TransferEndpoint {
  return {
    send: (packet) => socket.send(packet, port, address),
    sendRun(bytes, offset, length, stride) {
      const end = offset + length
      for (let at = offset; at < end; at += stride) {
        socket.send(bytes, at, Math.min(stride, end - at), port, address)
      }
    },
    close() {},
  }
}

export interface ConnectedEndpointOptions {
  readonly localAddress: string
  /** 0: any free one. */
  readonly localPort: number
  readonly peerAddress: string
  readonly peerPort: number
  /** Absent: one send a packet. */
  readonly segmentation?: { readonly gso: UdpGso; readonly stride: number }
  onMessage(bytes: Buffer): void
  onPortClosed(): void
  onSegmentationFailed(cause: unknown): void
}

export type EndpointResult =
  | { readonly kind: 'open'; readonly endpoint: TransferEndpoint }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly cause: unknown }

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * A socket of its own for one transfer, bound to the address that was asked and connected to the client: the source of
 * its packets is what the client expects (field case 50), and the kernel turns strangers away with an ICMP message.
 */
export function openConnectedEndpoint(options: ConnectedEndpointOptions): Promise<EndpointResult> {
  const { localAddress, localPort, peerAddress, peerPort, segmentation } = options
  const socket = createLiteralSocket(localAddress)
  let isClosed = false
  let isSegmenting = false

  function close(): void {
    if (isClosed) return
    isClosed = true
    socket.close()
  }

  function sendPlain(bytes: Buffer, offset: number, length: number, stride: number): void {
    const end = offset + length
    for (let at = offset; at < end; at += stride) socket.send(bytes, at, Math.min(stride, end - at))
  }

  /** After a failed segmented send nothing of it has left: it goes out again plainly, and so does all that follows. */
  function fallBack(error: Error, bytes: Buffer, offset: number, length: number, stride: number): void {
    if (isClosed) return
    if (codeOf(error) === 'ECONNREFUSED') {
      options.onPortClosed()
      return
    }
    if (isSegmenting) {
      isSegmenting = false
      segmentation?.gso.setSegment(socket, 0)
      options.onSegmentationFailed(error)
    }
    sendPlain(bytes, offset, length, stride)
  }

  function sendSegmented(bytes: Buffer, offset: number, length: number, stride: number): void {
    const most = segmentedSendBytes(stride)
    const end = offset + length
    for (let at = offset; at < end; at += most) {
      const part = Math.min(most, end - at)
      socket.send(bytes, at, part, (error) => {
        if (error) fallBack(error, bytes, at, part, stride)
      })
    }
  }

  const endpoint: TransferEndpoint = {
    send(packet) {
      if (!isClosed) socket.send(packet)
    },
    sendRun(bytes, offset, length, stride) {
      if (isClosed) return
      if (isSegmenting && length > stride) sendSegmented(bytes, offset, length, stride)
      else sendPlain(bytes, offset, length, stride)
    },
    close,
  }

  return new Promise((resolve) => {
    function fail(cause: unknown): void {
      close()
      resolve({ kind: 'failed', code: codeOf(cause), cause })
    }

    socket.on('message', (bytes, { port, address }) => {
      // Between bind and connect anybody's packet can get into the queue.
      if (port === peerPort && address === peerAddress) options.onMessage(bytes)
    })
    socket.once('error', fail)
    socket.once('listening', () => {
      socket.connect(peerPort, peerAddress, (error?: unknown) => {
        if (error) {
          fail(error)
          return
        }
        socket.off('error', fail)
        socket.on('error', (cause) => {
          if (codeOf(cause) === 'ECONNREFUSED') options.onPortClosed()
        })
        isSegmenting = segmentation?.gso.setSegment(socket, segmentation.stride) ?? false
        resolve({ kind: 'open', endpoint })
      })
    })
    socket.bind({ address: localAddress, port: localPort, exclusive: true })
  })
}
