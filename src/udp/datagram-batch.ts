import type { PeerName } from './peer-name.ts'

/** The kernel's functions, and where a Buffer's bytes lie. */
export interface KernelCalls {
  /** recvmmsg; below 0 when nothing is there. */
  receive(fd: number, headers: Buffer, count: number): number
  /** sendmmsg; below 0 when the first could not be sent. */
  send(fd: number, headers: Buffer, count: number): number
  addressOf(bytes: Buffer): number
  /** Of the last call that failed. */
  errno(): number
}

/** A datagram in the ring; its bytes are there until the visit ends. */
export interface ReceivedDatagram {
  readonly ring: Buffer
  readonly start: number
  readonly length: number
  /** IPv4 address as a number, times 65536, plus port. */
  readonly key: number
}

/** Packets that lie one after the other in a Buffer, on their way to one peer. */
export interface OutgoingRun {
  readonly bytes: Buffer
  readonly offset: number
  readonly length: number
  /** Where the kernel is to cut it; 0: it is one packet. */
  readonly segmentBytes: number
  readonly to: PeerName
  /** The kernel did not take it. */
  onUnsent(run: OutgoingRun, errno: number): void
}

/** Takes and gives many datagrams of one socket in one call. IPv4 alone. */
export interface DatagramBatch {
  /** Visits what waits in the socket, `most` at most or a few more, until a visit gives `false`. */
  receive(fd: number, most: number, visit: (datagram: ReceivedDatagram) => boolean): void
  /** Keeps a run for the next `flush`. Runs of one flush are of one socket. */
  push(fd: number, run: OutgoingRun): void
  flush(): void
}

const slots = 64
/** Packets up to this size are copied: small Buffers may lie where their address does not last. */
const copiedBytes = 1024
/** Longer than any TFTP request or DHCP message that is taken; what is cut off was too long anyway. */
const slotBytes = 4112

/*
 * struct mmsghdr on 64-bit little-endian Linux, 64 bytes:
 *   0 name, 8 name length (32 bits), 16 vector, 24 vector length, 32 control, 40 control length, 48 flags, 56 bytes done
 * struct iovec: 0 base, 8 length. struct sockaddr_in, 16 bytes: family, port and address in network order, zeros.
 * struct cmsghdr with one 16-bit number: 0 length (64 bits), 8 level, 12 type, 16 value; with padding 24 bytes.
 */
const headerBytes = 64
const vectorBytes = 16
const nameBytes = 16
const controlBytes = 24
const controlLength = 18
const solUdp = 17
const udpSegment = 103

const twoTo32 = 2 ** 32

function writePointer(target: Buffer, offset: number, address: number): void {
  target.writeUInt32LE(address % twoTo32, offset)
  target.writeUInt32LE(Math.floor(address / twoTo32), offset + 4)
}

/** Headers that point to names and vectors, laid out once and used again and again. */
function createHeaders(calls: KernelCalls): { headers: Buffer; vectors: Buffer; names: Buffer } {
  const headers = Buffer.alloc(slots * headerBytes)
  const vectors = Buffer.alloc(slots * vectorBytes)
  const names = Buffer.alloc(slots * nameBytes)
  const vectorsAt = calls.addressOf(vectors)
  const namesAt = calls.addressOf(names)
  for (let slot = 0; slot < slots; slot += 1) {
    const header = slot * headerBytes
    writePointer(headers, header, namesAt + slot * nameBytes)
    headers.writeUInt32LE(nameBytes, header + 8)
    writePointer(headers, header + 16, vectorsAt + slot * vectorBytes)
    headers.writeUInt32LE(1, header + 24)
  }
  return { headers, vectors, names }
}

export function createDatagramBatch(calls: KernelCalls): DatagramBatch {
  const incoming = createHeaders(calls)
  const ring = Buffer.alloc(slots * slotBytes)
  const ringAt = calls.addressOf(ring)
  const outgoing = createHeaders(calls)
  const copies = Buffer.alloc(slots * copiedBytes)
  const copiesAt = calls.addressOf(copies)
  const controls = Buffer.alloc(slots * controlBytes)
  const controlsAt = calls.addressOf(controls)
  /** Keeps the Buffers alive, too, whose addresses the kernel has been given. */
  const runs: OutgoingRun[] = []
  let outgoingFd = -1
  const addresses = new WeakMap<Buffer, number>()

  for (let slot = 0; slot < slots; slot += 1) {
    writePointer(incoming.vectors, slot * vectorBytes, ringAt + slot * slotBytes)
    incoming.vectors.writeUInt32LE(slotBytes, slot * vectorBytes + 8)
    const control = slot * controlBytes
    controls.writeUInt32LE(controlLength, control)
    controls.writeUInt32LE(solUdp, control + 8)
    controls.writeUInt32LE(udpSegment, control + 12)
    writePointer(outgoing.headers, slot * headerBytes + 32, controlsAt + control)
  }

  /** Where the kernel finds a run's bytes until the next flush. */
  function addressOf({ bytes, offset, length }: OutgoingRun, slot: number): number {
    if (length <= copiedBytes) {
      bytes.copy(copies, slot * copiedBytes, offset, offset + length)
      return copiesAt + slot * copiedBytes
    }
    const known = addresses.get(bytes)
    if (known !== undefined) return known + offset
    const address = calls.addressOf(bytes)
    addresses.set(bytes, address)
    return address + offset
  }

  function flush(): void {
    let at = 0
    while (at < runs.length) {
      const headers = at === 0 ? outgoing.headers : outgoing.headers.subarray(at * headerBytes)
      const sent = calls.send(outgoingFd, headers, runs.length - at)
      if (sent > 0) {
        at += sent
        continue
      }
      const run = runs[at]
      at += 1
      run?.onUnsent(run, calls.errno())
    }
    runs.length = 0
  }

  return {
    receive(fd, most, visit) {
      const { headers, names } = incoming
      for (let received = 0; received < most; received += slots) {
        const count = calls.receive(fd, headers, slots)
        for (let slot = 0; slot < count; slot += 1) {
          const name = slot * nameBytes
          const goesOn = visit({
            ring,
            start: slot * slotBytes,
            length: headers.readUInt32LE(slot * headerBytes + 56),
            key: names.readUInt32BE(name + 4) * 65536 + names.readUInt16BE(name + 2),
          })
          if (!goesOn) return
        }
        if (count < slots) return
      }
    },
    push(fd, run) {
      if (runs.length === slots || fd !== outgoingFd) flush()
      outgoingFd = fd
      const slot = runs.length
      const { vectors, names, headers } = outgoing
      writePointer(vectors, slot * vectorBytes, addressOf(run, slot))
      vectors.writeUInt32LE(run.length, slot * vectorBytes + 8)
      names.writeUInt32LE(run.to.familyAndPort, slot * nameBytes)
      names.writeUInt32LE(run.to.address, slot * nameBytes + 4)
      headers.writeUInt32LE(run.segmentBytes === 0 ? 0 : controlBytes, slot * headerBytes + 40)
      controls.writeUInt16LE(run.segmentBytes, slot * controlBytes + 16)
      runs.push(run)
    },
    flush,
  }
}
