import type { Socket } from 'node:dgram'
import type { KernelUdp } from '../udp/kernel-udp.ts'
import { bindSocket, createLiteralSocket, type EndpointSource } from './endpoint.ts'
import { encodeError, parsePacket } from './packet.ts'
import { createSharedSocket, createSharedSource } from './shared-socket.ts'
import { strangerError } from './transfer.ts'

export interface TransferSocketsOptions {
  readonly localAddress: string
  readonly kernel: KernelUdp
  readonly receiveBufferBytes: number
  onStranger(from: { readonly address: string; readonly port: number }): void
}

/** A client's next transfer meets the other port, and many packets wait in each. */
const socketCount = 2

/**
 * A few sockets, apart from the listening one, that take turns at carrying transfers: with the kernel's batches a packet
 * costs a quarter of what it costs on a socket of its own.
 * @throws node's own errors when they cannot be bound
 */
export async function openTransferSockets(options: TransferSocketsOptions): Promise<EndpointSource> {
  const { localAddress, kernel, receiveBufferBytes, onStranger } = options
  const sockets: Socket[] = []

  function closeSockets(): void {
    for (const socket of sockets) socket.close()
  }

  try {
    for (let count = 0; count < socketCount; count += 1) {
      const socket = createLiteralSocket(localAddress, receiveBufferBytes)
      await bindSocket(socket, { address: localAddress, port: 0 })
      sockets.push(socket)
    }
  } catch (error) {
    closeSockets()
    throw error
  }
  const source = createSharedSource(
    sockets.map((socket) =>
      createSharedSocket({
        socket,
        localAddress,
        kernel,
        onOther(bytes, from) {
          const packet = parsePacket(bytes)
          // An ERROR is never answered with one (RFC 1350 §5), nor is noise.
          if (packet.kind !== 'error' && packet.kind !== 'refused') {
            socket.send(encodeError(strangerError), from.port, from.address)
          }
          onStranger(from)
        },
      }),
    ),
  )
  return {
    open: source.open,
    close() {
      source.close()
      closeSockets()
    },
  }
}
