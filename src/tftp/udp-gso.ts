import type { Socket } from 'node:dgram'

/** Linux: `setsockopt(fd, SOL_UDP, UDP_SEGMENT, …)` (kernel 4.18). */
const solUdp = 17
const udpSegment = 103
/** The kernel cuts at most 64 segments (UDP_MAX_SEGMENTS), out of one datagram of at most 65,507 bytes. */
const mostSegments = 64
const mostBytes = 65_000

/** The part of `koffi` that is used here; the package is optional, so its own types may be absent. */
interface Koffi {
  load(library: string | null): {
    func(prototype: string): (...values: unknown[]) => unknown
  }
}

/**
 * UDP segmentation by the kernel: one send carries a window, and the kernel cuts it into datagrams. A window of eight
 * costs about a third of the CPU of eight sends.
 */
export interface UdpGso {
  /** Lets the kernel cut what this bound socket sends every `segmentBytes`; 0 switches it off. `false`: it cannot. */
  setSegment(socket: Socket, segmentBytes: number): boolean
}

/** How many bytes may go into one send, for packets of `stride` bytes: a whole number of them, one at least. */
export function segmentedSendBytes(stride: number): number {
  return Math.max(Math.min(Math.floor(mostBytes / stride), mostSegments), 1) * stride
}

/** There is no public way to a dgram socket's descriptor; where this one does not lead there, sends stay plain. */
function descriptorOf(socket: Socket): number | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  )
  if (symbol === undefined) return undefined
  const state = (socket as unknown as Record<symbol, { handle?: { fd?: unknown } } | undefined>)[symbol]
  const fd = state?.handle?.fd
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}

/** Makes it from a loaded `koffi`; `undefined` where the C library has no `setsockopt` that can be reached. */
export function createUdpGso(koffi: Koffi): UdpGso | undefined {
  try {
    const setsockopt = koffi
      .load(null)
      .func('int setsockopt(int fd, int level, int name, const int *value, uint32_t length)')
    return {
      setSegment(socket, segmentBytes) {
        const fd = descriptorOf(socket)
        return fd !== undefined && setsockopt(fd, solUdp, udpSegment, [segmentBytes], 4) === 0
      },
    }
  } catch {
    return undefined
  }
}

/**
 * Loads the optional package `koffi`. `undefined` when it is not installed, on other systems than Linux, and where it
 * cannot be used: everything works without it, with one send a packet.
 */
export async function loadUdpGso(packageName = 'koffi'): Promise<UdpGso | undefined> {
  if (process.platform !== 'linux') return undefined
  // A name in a variable: the compiler must not ask for the types of a package that may be absent.
  const loaded: unknown = await import(packageName).catch(() => undefined)
  if (typeof loaded !== 'object' || loaded === null) return undefined
  return createUdpGso(('default' in loaded ? loaded.default : loaded) as Koffi)
}
