import type { RemoteInfo, Socket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import type { OutgoingRun } from '../udp/datagram-batch.ts'
import { descriptorOf, type KernelUdp } from '../udp/kernel-udp.ts'
import { addressOfKey, type PeerKey, peerKey, peerName } from '../udp/peer-name.ts'
import type { EndpointListener, EndpointSource, TransferEndpoint } from './endpoint.ts'
import { opcodes, parsePacket } from './packet.ts'
import { segmentedSendBytes } from './segment-limit.ts'

type Address = { readonly address: string; readonly port: number }

/** A socket that many transfers send from; packets find theirs by the client's address and port. */
export interface SharedSocket {
  has(peer: Address): boolean
  open(peer: Address, segmentBytes: number | undefined, listener: EndpointListener): TransferEndpoint
  /** To be called before the socket itself is closed: afterwards its descriptor may be somebody else's. */
  close(): void
}

export interface SharedSocketOptions {
  /** Bound. */
  readonly socket: Socket
  readonly localAddress: string
  readonly kernel?: KernelUdp
  /** A request, or a packet from somebody who has no transfer here. The bytes are the receiver's to keep. */
  onOther(bytes: Buffer, from: Address): void
}

/** Taken in one turn at most, so that others have theirs. */
const mostInTurn = 256
/** Errors after which the same send may succeed: Linux EAGAIN, ENOBUFS. */
const passingErrors: ReadonlySet<number> = new Set([11, 105])

interface Peer {
  readonly address: Address
  readonly listener: EndpointListener
}

/** A request asks for a new transfer, whoever sends it. */
function isRequest(bytes: Buffer, start: number, length: number): boolean {
  if (length < 2 || bytes[start] !== 0) return false
  return bytes[start + 1] === opcodes.read || bytes[start + 1] === opcodes.write
}

/** Serves any number of transfers on one socket, many packets a call where the kernel interface is there. */
export function createSharedSocket(options: SharedSocketOptions): SharedSocket {
  const { socket, localAddress, kernel, onOther } = options
  const peers = new Map<PeerKey, Peer>()
  const batch = isIPv4(localAddress) ? kernel?.batch : undefined
  const fd = batch === undefined ? undefined : descriptorOf(socket)
  /** While packets are being taken in, what is sent in answer is collected. */
  let isCollecting = false
  let isClosed = false

  function deliver(bytes: Buffer, start: number, length: number, key: PeerKey, from?: Address): void {
    const peer = isRequest(bytes, start, length) ? undefined : peers.get(key)
    if (peer === undefined) {
      // What lies in the batch's ring is overwritten by the next packet.
      const own = length === bytes.length ? bytes : Buffer.from(bytes.subarray(start, start + length))
      onOther(own, from ?? addressOfKey(Number(key)))
      return
    }
    peer.listener.onBytes?.(bytes, start, length)
    if (length >= 4 && bytes[start] === 0 && bytes[start + 1] === opcodes.ack) {
      peer.listener.onPacket({ kind: 'ack', block: bytes.readUInt16BE(start + 2) })
    } else peer.listener.onPacket(parsePacket(bytes.subarray(start, start + length)))
  }

  function onMessage(bytes: Buffer, { address, port }: RemoteInfo): void {
    // Nothing can be sent to port 0.
    if (port === 0) return
    const key = peerKey(address, port)
    if (batch === undefined || fd === undefined) {
      deliver(bytes, 0, bytes.length, key, { address, port })
      return
    }
    isCollecting = true
    try {
      deliver(bytes, 0, bytes.length, key, { address, port })
      // From a single client there is hardly ever a second packet; requests come in crowds.
      if (peers.size !== 1 && !isClosed) {
        batch.receive(fd, mostInTurn, ({ ring, start, length, key: sender }) => {
          const isAnswerable = sender % 65536 !== 0
          if (isAnswerable) deliver(ring, start, length, sender)
          return !isClosed
        })
      }
    } finally {
      isCollecting = false
      if (!isClosed) batch.flush()
    }
  }

  socket.on('message', onMessage)
  // What the kernel reports here is about somebody who is gone; nothing waits for it.
  socket.on('error', () => {})

  function sendPlain(
    { address, port }: Address,
    bytes: Buffer,
    offset: number,
    length: number,
    stride: number,
  ): void {
    const end = offset + length
    for (let at = offset; at < end; at += stride) {
      socket.send(bytes, at, Math.min(stride, end - at), port, address)
    }
  }

  function open(
    peer: Address,
    segmentBytes: number | undefined,
    listener: EndpointListener,
  ): TransferEndpoint {
    const key = peerKey(peer.address, peer.port)
    const entry: Peer = { address: peer, listener }
    const name = peerName(peer.address, peer.port)
    let isSegmenting = segmentBytes !== undefined
    let isEnded = false
    peers.set(key, entry)

    function onUnsent(run: OutgoingRun, errno: number): void {
      if (isEnded || isClosed) return
      const { bytes, offset, length } = run
      if (run.segmentBytes > 0 && !passingErrors.has(errno) && isSegmenting) {
        isSegmenting = false
        listener.onSegmentationFailed(new Error(`sendmmsg with UDP_SEGMENT failed, errno ${errno}`))
      }
      // One packet that the kernel refuses is a packet lost; the timer sees to it.
      else if (run.segmentBytes === 0 && !passingErrors.has(errno)) return
      sendPlain(peer, bytes, offset, length, run.segmentBytes || length)
    }

    function sendBatched(bytes: Buffer, offset: number, length: number, stride: number): boolean {
      if (batch === undefined || fd === undefined || name === undefined) return false
      const most = isSegmenting ? segmentedSendBytes(stride) : stride
      const end = offset + length
      for (let at = offset; at < end; at += most) {
        const part = Math.min(most, end - at)
        batch.push(fd, {
          bytes,
          offset: at,
          length: part,
          segmentBytes: part > stride ? stride : 0,
          to: name,
          onUnsent,
        })
      }
      if (!isCollecting) batch.flush()
      return true
    }

    function sendRun(bytes: Buffer, offset: number, length: number, stride: number): void {
      if (isEnded || isClosed) return
      if (!sendBatched(bytes, offset, length, stride)) sendPlain(peer, bytes, offset, length, stride)
    }

    return {
      localPort: socket.address().port,
      send: (packet) => sendRun(packet, 0, packet.length, packet.length),
      sendRun,
      close() {
        isEnded = true
        if (peers.get(key) === entry) peers.delete(key)
      },
    }
  }

  return {
    has: ({ address, port }) => peers.has(peerKey(address, port)),
    open,
    close() {
      if (isCollecting) batch?.flush()
      isClosed = true
      peers.clear()
    },
  }
}

/** Transfers take turns on these sockets, so that late packets of one meet another port in the next. */
export function createSharedSource(sockets: readonly SharedSocket[]): EndpointSource {
  let turn = 0
  return {
    async open(peer, segmentBytes, listener) {
      for (let tried = 0; tried < sockets.length; tried += 1) {
        const socket = sockets[turn % sockets.length]
        turn += 1
        if (socket === undefined || socket.has(peer)) continue
        return { kind: 'open', endpoint: socket.open(peer, segmentBytes, listener) }
      }
      return { kind: 'none', reason: 'no-free-port' }
    },
    close() {
      for (const socket of sockets) socket.close()
    },
  }
}
