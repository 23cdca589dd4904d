import type { Socket } from 'node:dgram'
import { isLayoutKnown, type Koffi, loadKoffi } from '../native/koffi.ts'
import { createDatagramBatch, type DatagramBatch } from './datagram-batch.ts'

/** Linux: `setsockopt(fd, SOL_UDP, UDP_SEGMENT, …)` (kernel 4.18). */
const solUdp = 17
const udpSegment = 103
/** Do not wait; the same on x86-64 and aarch64. */
const msgDontwait = 0x40

/**
 * What the Linux kernel does for UDP beyond Node: cut one send into a window of datagrams, and take or give many
 * datagrams in one call. Lock-step transfers of many machines cost a third of the CPU by it, windows of eight as well.
 */
export interface KernelUdp {
  /** Lets the kernel cut what this bound socket sends every `segmentBytes`; 0 switches it off. `false`: it cannot. */
  setSegment(socket: Socket, segmentBytes: number): boolean
  /** Absent where the layout of the kernel's structures is not known. */
  readonly batch?: DatagramBatch
}

/**
 * There is no public way to a dgram socket's descriptor; where this one does not lead there, everything goes on by
 * dgram's own means.
 */
export function descriptorOf(socket: Socket): number | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  )
  if (symbol === undefined) return undefined
  const state = (socket as unknown as Record<symbol, { handle?: { fd?: unknown } } | undefined>)[symbol]
  const fd = state?.handle?.fd
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}

/** Makes it from a loaded `koffi`; `undefined` where the C library's functions cannot be reached. */
export function createKernelUdp(koffi: Koffi): KernelUdp | undefined {
  try {
    const libc = koffi.load(null)
    const setsockopt = libc.func(
      'int setsockopt(int fd, int level, int name, const int *value, uint32_t length)',
    )
    const recvmmsg = libc.func(
      'int recvmmsg(int fd, void *headers, unsigned int count, int flags, void *timeout)',
    )
    const sendmmsg = libc.func('int sendmmsg(int fd, const void *headers, unsigned int count, int flags)')
    const setSegment = (socket: Socket, segmentBytes: number) => {
      const fd = descriptorOf(socket)
      return fd !== undefined && setsockopt(fd, solUdp, udpSegment, [segmentBytes], 4) === 0
    }
    if (!isLayoutKnown()) return { setSegment }
    const batch = createDatagramBatch({
      receive: (fd, headers, count) => Number(recvmmsg(fd, headers, count, msgDontwait, null)),
      send: (fd, headers, count) => Number(sendmmsg(fd, headers, count, msgDontwait)),
      addressOf: (bytes) => Number(koffi.address(bytes)),
      errno: () => koffi.errno(),
    })
    return { setSegment, batch }
  } catch {
    return undefined
  }
}

/** `undefined` where it cannot be used: everything works without it, with one call a packet. */
export async function loadKernelUdp(): Promise<KernelUdp | undefined> {
  const koffi = await loadKoffi()
  return koffi && createKernelUdp(koffi)
}
