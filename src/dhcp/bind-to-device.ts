import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import type { Ipv4 } from '../core/ipv4.ts'

/** Opens a UDP socket that receives and sends on one interface alone; Node's own sockets cannot. */
export interface DeviceSockets {
  /**
   * @returns the file descriptor of a bound, non-blocking socket, to be handed to `dgram`
   * @throws an Error with a `code` such as EADDRINUSE, EACCES or ENODEV, as Node's own sockets do
   */
  open(where: {
    readonly device: string
    readonly address: Ipv4
    readonly port: number
    readonly isShared: boolean
  }): number
}

// Linux, the same on x86_64, aarch64, ppc64le and s390x.
const AF_INET = 2
const SOCK_DGRAM = 2
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const SOL_SOCKET = 1
const SO_REUSEADDR = 2
const SO_BROADCAST = 6
const SO_BINDTODEVICE = 25

/** The part of koffi that is used; the package is optional, so its own types may not be there. */
interface Koffi {
  load(path: null): { func(declaration: string): (...values: unknown[]) => number }
  errno(): number
}

/**
 * Through koffi, a foreign-function package that an installation may leave out: `undefined` without it. The inherited
 * sockets of a service manager need none of this.
 */
export async function loadDeviceSockets(): Promise<DeviceSockets | undefined> {
  if (process.platform !== 'linux') return undefined
  const koffi = await importKoffi()
  if (koffi === undefined) return undefined
  const libc = koffi.load(null)
  const socket = libc.func('int socket(int domain, int type, int protocol)')
  const setsockopt = libc.func(
    'int setsockopt(int fd, int level, int name, const void *value, uint32_t length)',
  )
  const bind = libc.func('int bind(int fd, const void *address, uint32_t length)')

  function check(step: string, result: number): number {
    if (result >= 0) return result
    throw systemError(step, koffi?.errno() ?? 0)
  }

  return {
    open({ device, address, port, isShared }) {
      const fd = check('socket', socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))
      try {
        const name = Buffer.from(`${device}\0`)
        check('bind to device', setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, name.length))
        check('allow broadcast', setsockopt(fd, SOL_SOCKET, SO_BROADCAST, one, one.length))
        // Before bind, it would hide that somebody else has the port; after it, our own second socket may join.
        if (isShared) check('share', setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, one, one.length))
        const where = socketAddress(address, port)
        check('bind', bind(fd, where, where.length))
        if (!isShared) check('share', setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, one, one.length))
        return fd
      } catch (error) {
        closeSync(fd)
        throw error
      }
    },
  }
}

/** C's `int` 1 in this machine's byte order. */
const one = Buffer.from(Int32Array.of(1).buffer)

/** `struct sockaddr_in`: the family in host order, port and address in network order. */
function socketAddress(address: Ipv4, port: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.set(new Uint8Array(Uint16Array.of(AF_INET).buffer), 0)
  bytes.writeUInt16BE(port, 2)
  bytes.writeUInt32BE(address, 4)
  return bytes
}

async function importKoffi(): Promise<Koffi | undefined> {
  // A variable, so that the compiler does not ask for a package that may be missing.
  const name = 'koffi'
  try {
    const module: { default?: Koffi } & Koffi = await import(name)
    return module.default ?? module
  } catch {
    return undefined
  }
}

function systemError(step: string, errno: number): NodeJS.ErrnoException {
  const code = Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`
  return Object.assign(new Error(`${step}: ${code}`), { code, errno, syscall: step })
}
