import type { Socket } from 'node:dgram'
import { formatIpv4, toIpv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import type { DatagramBatch, OutgoingRun } from '../udp/datagram-batch.ts'
import { descriptorOf } from '../udp/kernel-udp.ts'
import { addressOfKey, addressOfPeerName, ipv4PeerName, type PeerName } from '../udp/peer-name.ts'
import type { Destination } from './destination.ts'
import type { DatagramSource } from './exchange.ts'
import type { PortRole, WireSockets } from './open-sockets.ts'

export interface WireTrafficParts {
  readonly sockets: WireSockets
  /** Many datagrams a call, where the system has that; without it one call a datagram. */
  readonly batch: DatagramBatch | undefined
  /** `bytes` are valid during the call alone: what comes next is written over them. */
  readonly onDatagram: (bytes: Uint8Array, port: PortRole, source: DatagramSource) => void
  readonly onError: (error: Error) => void
  readonly onSendFailed: (problem: string) => void
}

/** What comes in and goes out by the sockets of one interface. */
export interface WireTraffic {
  send(bytes: Buffer, port: PortRole, destination: Destination): void
  /** What is sent during `run` leaves in one call. */
  together(run: () => void): void
  /** To be called before the sockets are closed: their descriptors may be somebody else's afterwards. */
  end(): void
}

/** Taken in one turn at most, so that others have theirs. */
const mostInTurn = 256
/** Errors after which the same send may succeed: Linux EAGAIN, ENOBUFS. */
const passingErrors: ReadonlySet<number> = new Set([11, 105])
/** Answers from port 67 go where the packet says, so who sent it is not looked up. */
const nobody: DatagramSource = { address: '0.0.0.0', port: 0 }

export function createWireTraffic(parts: WireTrafficParts): WireTraffic {
  const { sockets, batch, onDatagram, onError, onSendFailed } = parts
  const senders = { server: senderOf('server'), proxy: senderOf('proxy') }
  let isCollecting = false
  let isEnded = false
  // Most answers of a moment go to one and the same place: the broadcast address.
  let lastDestination: Destination = { address: unspecifiedIpv4, port: 0 }
  let lastName: PeerName = ipv4PeerName(0, 0)

  for (const { socket, role } of sockets.receivers) {
    const fd = batch === undefined ? undefined : descriptorOf(socket)
    socket.on('message', (bytes, source) => {
      if (batch === undefined || fd === undefined) onDatagram(bytes, role, source)
      else together(() => receive(bytes, role, source, fd, batch))
    })
    socket.on('error', onError)
  }

  /** The first datagram of a turn comes by Node; a rack that powers on has sent more by then. */
  function receive(
    first: Buffer,
    role: PortRole,
    source: DatagramSource,
    fd: number,
    from: DatagramBatch,
  ): void {
    onDatagram(first, role, source)
    from.receive(fd, mostInTurn, ({ ring, start, length, key }) => {
      if (isEnded) return false
      const bytes = new Uint8Array(ring.buffer, ring.byteOffset + start, length)
      onDatagram(bytes, role, role === 'proxy' ? addressOfKey(key) : nobody)
      return !isEnded
    })
  }

  function together(run: () => void): void {
    if (isCollecting || batch === undefined) {
      run()
      return
    }
    isCollecting = true
    try {
      run()
    } finally {
      isCollecting = false
      batch.flush()
    }
  }

  // One for all packets: a function a packet would cost as much as the packet.
  function onSent(error: Error | null): void {
    if (error) onSendFailed(error.message)
  }

  function senderOf(role: PortRole) {
    const socket = sockets.senders[role]
    const fd = batch === undefined ? undefined : descriptorOf(socket)
    /** dgram waits where the kernel has no room just now. */
    function onUnsent({ bytes, to }: OutgoingRun, errno: number): void {
      if (isEnded) return
      if (!passingErrors.has(errno)) {
        onSendFailed(`sendmmsg failed, errno ${errno}`)
        return
      }
      const { address, port } = addressOfPeerName(to)
      socket.send(bytes, port, formatIpv4(toIpv4(address)), onSent)
    }
    return { socket, fd, onUnsent }
  }

  function nameOf(destination: Destination): PeerName {
    const { address, port } = destination
    if (address !== lastDestination.address || port !== lastDestination.port) {
      lastDestination = destination
      lastName = ipv4PeerName(address, port)
    }
    return lastName
  }

  return {
    send(bytes, role, destination) {
      if (isEnded) return
      const { socket, fd, onUnsent } = senders[role]
      if (batch === undefined || fd === undefined || !isCollecting) {
        sendAlone(socket, bytes, destination)
        return
      }
      const to = nameOf(destination)
      batch.push(fd, { bytes, offset: 0, length: bytes.length, segmentBytes: 0, to, onUnsent })
    },
    together,
    end() {
      if (isCollecting) batch?.flush()
      isEnded = true
    },
  }

  function sendAlone(socket: Socket, bytes: Buffer, { address, port }: Destination): void {
    socket.send(bytes, port, formatIpv4(address), onSent)
  }
}
