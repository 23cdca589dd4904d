import type { Socket } from 'node:net'
import { isLayoutKnown, type Koffi, loadKoffi } from '../../native/koffi.ts'

/** Linux: `preadv2(…, RWF_NOWAIT)` reads what is in memory already and nothing else (kernel 4.14). */
const rwfNowait = 8
/** Linux, the same on x86-64 and aarch64. */
const siocoutq = 0x5411
/** A byte in each is asked for: what was read in one go is dropped from memory in one go, but for rare holes. */
const residenceStepBytes = 512 * 1024
/** `errno` on Linux, the same on x86-64 and aarch64. */
const eagain = 11
const epipe = 32
const econnreset = 104

/** What came of handing bytes of a file to a socket. */
export type KernelSend =
  | { readonly kind: 'sent'; readonly bytes: number }
  /** The socket's buffer has no room now. */
  | { readonly kind: 'full' }
  /** The client went away. */
  | { readonly kind: 'gone' }
  /** The file ended before the asked place. */
  | { readonly kind: 'cut' }
  /** This kernel or file system cannot. */
  | { readonly kind: 'unable' }

/**
 * Bytes from a file to a TCP socket without a copy through this process: a third of the CPU of reading and writing,
 * and no memory at all. What waits in the socket is the file itself: whoever writes into it meanwhile changes that, too.
 */
export interface KernelFiles {
  /** Never waits for the socket; waits for the disk, unless what is asked for is resident. Linux: sendfile(2). */
  send(socketDescriptor: number, fileDescriptor: number, position: number, bytes: number): KernelSend
  /** Whether a part of a file is in memory, so that sending it does not hold the event loop. */
  isResident(fileDescriptor: number, position: number, bytes: number): boolean
  /** Bytes that the other side has not acknowledged. Linux: `ioctl(SIOCOUTQ)`, tcp(7). */
  unacknowledged(socketDescriptor: number): number
}

/** There is no public way to a socket's descriptor; `undefined` where this one does not lead there or it is closed. */
export function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null }
  const fd = handle?.fd
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}

/** Makes it from a loaded `koffi`; `undefined` where the C library's functions cannot be reached. */
export function createKernelFiles(koffi: Koffi): KernelFiles | undefined {
  // Offsets are written as eight bytes, and a pointer with a length as sixteen.
  if (!isLayoutKnown()) return undefined
  try {
    const libc = koffi.load(null)
    const sendfile = libc.func('int64_t sendfile(int out, int in, void *offset, size_t count)')
    const preadv2 = libc.func(
      'int64_t preadv2(int fd, const void *parts, int count, int64_t position, int flags)',
    )
    const ioctl = libc.func('int ioctl(int fd, unsigned long request, void *value)')
    const place = Buffer.alloc(8)
    const queued = Buffer.alloc(8)
    // Large enough to lie outside of V8's heap: the structure keeps its address.
    const page = Buffer.alloc(4096)
    const parts = page.subarray(0, 16)
    parts.writeBigUInt64LE(BigInt(koffi.address(page)) + 64n, 0)
    parts.writeBigUInt64LE(1n, 8)

    const isByteResident = (fd: number, position: number) =>
      Number(preadv2(fd, parts, 1, position, rwfNowait)) === 1

    return {
      send(socketDescriptor, fileDescriptor, position, bytes) {
        place.writeBigInt64LE(BigInt(position))
        const sent = Number(sendfile(socketDescriptor, fileDescriptor, place, bytes))
        if (sent > 0) return { kind: 'sent', bytes: sent }
        if (sent === 0) return { kind: 'cut' }
        const errno = koffi.errno()
        if (errno === eagain) return { kind: 'full' }
        return { kind: errno === epipe || errno === econnreset ? 'gone' : 'unable' }
      },
      isResident(fd, position, bytes) {
        const last = position + bytes - 1
        for (let at = position; at < last; at += residenceStepBytes) {
          if (!isByteResident(fd, at)) return false
        }
        return isByteResident(fd, last)
      },
      unacknowledged(socketDescriptor) {
        return ioctl(socketDescriptor, siocoutq, queued) === 0 ? queued.readInt32LE() : 0
      },
    }
  } catch {
    return undefined
  }
}

/** `undefined` where it cannot be used: files are then read and written by Node's own means. */
export async function loadKernelFiles(): Promise<KernelFiles | undefined> {
  const koffi = await loadKoffi()
  return koffi && createKernelFiles(koffi)
}
