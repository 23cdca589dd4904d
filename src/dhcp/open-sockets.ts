import { createSocket, type Socket, type SocketOptions } from 'node:dgram'
import { ServiceError } from '../core/errors.ts'
import { formatIpv4, type Ipv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import { widenReceiveBuffer } from '../udp/receive-buffer.ts'
import type { DeviceSockets } from './bind-to-device.ts'
import type { DhcpPorts } from './destination.ts'

export type PortRole = 'server' | 'proxy'

/** The open sockets of one interface. Replies leave by `senders`, so that they have the source that was asked. */
export interface WireSockets {
  readonly receivers: readonly { readonly socket: Socket; readonly role: PortRole }[]
  readonly senders: Readonly<Record<PortRole, Socket>>
  close(): void
}

/** A burst of a whole rack powering on; the kernel's default holds a few hundred datagrams. */
const receiveBufferBytes = 4 * 1024 * 1024

/** Addresses are literals already: no resolver, and no detour over the next tick. */
const literalOptions: SocketOptions = {
  type: 'udp4',
  lookup: (host, _options, done) => done(null, host, 4),
}
const socketOptions: SocketOptions = { ...literalOptions, recvBufferSize: receiveBufferBytes }

/**
 * Wraps sockets that a service manager opened and bound to the interface. Their roles are seen from their ports.
 * @throws ServiceError LISTEN_FAILED when the one for the server port is missing, or a port is not ours
 */
export async function adoptSockets(
  device: string,
  fds: readonly number[],
  ports: DhcpPorts,
): Promise<WireSockets> {
  const receivers: { socket: Socket; role: PortRole }[] = []
  try {
    for (const fd of fds) {
      const socket = await bound(createSocket(literalOptions), { fd })
      widenReceiveBuffer(socket, receiveBufferBytes)
      receivers.push({ socket, role: roleOf(device, socket, ports) })
    }
    const server = receivers.find(({ role }) => role === 'server')?.socket
    const proxy = receivers.find(({ role }) => role === 'proxy')?.socket
    if (server === undefined || proxy === undefined) {
      const missing = server === undefined ? ports.server : ports.proxy
      throw new ServiceError(
        'LISTEN_FAILED',
        `no inherited socket for UDP port ${missing} on ${device}: the socket unit needs ListenDatagram=${missing}`,
        { interface: device, port: missing },
      )
    }
    return { receivers, senders: { server, proxy }, close: () => closeAll(receivers) }
  } catch (error) {
    closeAll(receivers)
    throw error
  }
}

function roleOf(device: string, socket: Socket, ports: DhcpPorts): PortRole {
  const { port } = socket.address()
  if (port === ports.server) return 'server'
  if (port === ports.proxy) return 'proxy'
  throw new ServiceError('LISTEN_FAILED', `inherited socket for ${device} is bound to UDP port ${port}`, {
    port,
  })
}

/**
 * Opens both ports for one interface. For each a socket at every address, which gets broadcasts, and one at our own
 * address, which gets unicasts and sends: so replies have the source that was asked, and the kernel sends even a limited
 * broadcast by the interface that has this address.
 * @param devices absent: sockets cannot be bound to an interface, and what comes by another is heard too
 * @throws ServiceError LISTEN_FAILED, with the port and what to do
 */
export async function openSockets(
  device: string,
  address: Ipv4,
  ports: DhcpPorts,
  devices: DeviceSockets | undefined,
): Promise<WireSockets> {
  const receivers: { socket: Socket; role: PortRole }[] = []

  async function openPort(role: PortRole): Promise<Socket> {
    const port = ports[role]
    try {
      for (const at of [unspecifiedIpv4, address]) {
        const isShared = at === address
        const socket = devices
          ? await bound(createSocket(socketOptions), {
              fd: devices.open({ device, address: at, port, isShared }),
            })
          : await openPlain(at, port, isShared)
        receivers.push({ socket, role })
      }
    } catch (error) {
      throw listenError(error, device, port)
    }
    return (receivers.at(-1) as { socket: Socket }).socket
  }

  try {
    const server = await openPort('server')
    const proxy = await openPort('proxy')
    return { receivers, senders: { server, proxy }, close: () => closeAll(receivers) }
  } catch (error) {
    closeAll(receivers)
    throw error
  }
}

/** Sharing a port with ourselves would hide that somebody else has it, so that is tried first without. */
async function openPlain(address: Ipv4, port: number, isShared: boolean): Promise<Socket> {
  const where = { address: formatIpv4(address), port, exclusive: true }
  if (!isShared) {
    const probe = await bound(createSocket({ type: 'udp4' }), where)
    await new Promise<void>((resolve) => probe.close(resolve))
  }
  return bound(createSocket({ ...socketOptions, reuseAddr: true }), where)
}

function bound(socket: Socket, where: Parameters<Socket['bind']>[0] & object): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      socket.close()
      reject(error)
    }
    socket.once('error', fail)
    socket.bind(where, () => {
      socket.off('error', fail)
      socket.setBroadcast(true)
      resolve(socket)
    })
  })
}

function closeAll(receivers: readonly { readonly socket: Socket }[]): void {
  for (const { socket } of receivers) socket.close()
}

function listenError(cause: unknown, device: string, port: number): ServiceError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
  return new ServiceError(
    'LISTEN_FAILED',
    `UDP port ${port} on ${device}: ${advice(code, port)}`,
    { port, interface: device, code },
    cause,
  )
}

function advice(code: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another program has it, often dnsmasq or a DHCP server; see who with "ss -ulpn sport = :${port}" and stop it`
    case 'EACCES':
    case 'EPERM':
      return 'not permitted; give the service CAP_NET_BIND_SERVICE, or hand it the socket from a socket unit'
    case 'ENODEV':
      return 'there is no such interface'
    default:
      return `cannot be opened (${code})`
  }
}
