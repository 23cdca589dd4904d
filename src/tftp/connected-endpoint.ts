import type { Socket } from 'node:dgram'
import type { KernelUdp } from '../udp/kernel-udp.ts'
import {
  bindSocket,
  createLiteralSocket,
  type EndpointListener,
  type EndpointSource,
  errorCodeOf,
  type TransferEndpoint,
} from './endpoint.ts'
import { parsePacket } from './packet.ts'
import { segmentedSendBytes } from './segment-limit.ts'
import type { TransferPorts } from './transfer-ports.ts'

interface ConnectedOptions {
  readonly socket: Socket
  readonly peer: { readonly address: string; readonly port: number }
  readonly listener: EndpointListener
  readonly kernel: KernelUdp | undefined
  readonly segmentBytes: number | undefined
}

function connect(socket: Socket, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.connect(port, address, (error?: unknown) => {
      if (error) reject(error)
      else resolve()
    })
  })
}

/** An endpoint on a connected socket of its own. */
function createConnectedEndpoint(options: ConnectedOptions): TransferEndpoint {
  const { socket, peer, listener, kernel, segmentBytes } = options
  let isClosed = false
  let isSegmenting = segmentBytes !== undefined && (kernel?.setSegment(socket, segmentBytes) ?? false)

  socket.on('message', (bytes, { port, address }) => {
    // Between bind and connect anybody's packet can get into the queue.
    if (port !== peer.port || address !== peer.address) return
    listener.onBytes?.(bytes, 0, bytes.length)
    listener.onPacket(parsePacket(bytes))
  })
  socket.on('error', (cause) => {
    if (errorCodeOf(cause) === 'ECONNREFUSED') listener.onPortClosed()
  })

  function sendPlain(bytes: Buffer, offset: number, length: number, stride: number): void {
    const end = offset + length
    for (let at = offset; at < end; at += stride) socket.send(bytes, at, Math.min(stride, end - at))
  }

  /** After a failed segmented send nothing of it has left: it goes out again plainly, and so does all that follows. */
  function fallBack(error: Error, bytes: Buffer, offset: number, length: number, stride: number): void {
    if (isClosed) return
    if (errorCodeOf(error) === 'ECONNREFUSED') {
      listener.onPortClosed()
      return
    }
    if (isSegmenting) {
      isSegmenting = false
      kernel?.setSegment(socket, 0)
      listener.onSegmentationFailed(error)
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

  return {
    localPort: socket.address().port,
    send(packet) {
      if (!isClosed) socket.send(packet)
    },
    sendRun(bytes, offset, length, stride) {
      if (isClosed) return
      if (isSegmenting && length > stride) sendSegmented(bytes, offset, length, stride)
      else sendPlain(bytes, offset, length, stride)
    },
    close() {
      if (isClosed) return
      isClosed = true
      socket.close()
    },
  }
}

export interface ConnectedSourceOptions {
  readonly localAddress: string
  readonly ports: TransferPorts
  readonly kernel?: KernelUdp
}

/**
 * A socket of its own for each transfer, bound to the address that was asked and connected to the client: the source of
 * its packets is what the client expects (field case 50), and the kernel turns strangers away with an ICMP message.
 */
export function createConnectedSource(options: ConnectedSourceOptions): EndpointSource {
  const { localAddress, ports, kernel } = options

  return {
    async open(peer, segmentBytes, listener) {
      for (let tried = 0; tried < ports.count; tried += 1) {
        const localPort = ports.take()
        if (localPort === undefined) break
        const socket = createLiteralSocket(localAddress)
        try {
          await bindSocket(socket, { address: localAddress, port: localPort })
          await connect(socket, peer.port, peer.address)
        } catch (cause) {
          ports.release(localPort)
          if (errorCodeOf(cause) === 'EADDRINUSE') continue
          return { kind: 'none', reason: 'socket-failed', cause }
        }
        const endpoint = createConnectedEndpoint({ socket, peer, listener, kernel, segmentBytes })
        return {
          kind: 'open',
          endpoint: {
            ...endpoint,
            close() {
              endpoint.close()
              ports.release(localPort)
            },
          },
        }
      }
      return { kind: 'none', reason: 'no-free-port' }
    },
    close() {},
  }
}
