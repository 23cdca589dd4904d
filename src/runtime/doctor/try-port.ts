import { createSocket } from 'node:dgram'
import { closeSync } from 'node:fs'
import { createServer } from 'node:net'
import { unspecifiedIpv4 } from '../../core/ipv4.ts'
import type { DeviceSockets } from '../../dhcp/bind-to-device.ts'
import type { BindOutcome } from '../../doctor/check-ports.ts'

export interface PortToTry {
  readonly protocol: 'tcp' | 'udp'
  readonly host?: string
  readonly port: number
  readonly interface?: string
}

/** Opens a port for a moment, in the way in which the service would, and says what became of it. */
export async function tryPort(where: PortToTry, devices: DeviceSockets | undefined): Promise<BindOutcome> {
  const { protocol, host, port, interface: device } = where
  try {
    if (device !== undefined && devices !== undefined) {
      closeSync(devices.open({ device, address: unspecifiedIpv4, port, isShared: false }))
    } else await (protocol === 'udp' ? tryUdp(host, port) : tryTcp(host, port))
    return 'free'
  } catch (error) {
    return outcomes[(error as NodeJS.ErrnoException).code ?? ''] ?? 'not-tried'
  }
}

const outcomes: Readonly<Record<string, BindOutcome>> = {
  EADDRINUSE: 'taken',
  EACCES: 'denied',
  EPERM: 'denied',
  EADDRNOTAVAIL: 'no-address',
  ENODEV: 'no-interface',
}

function tryUdp(host: string | undefined, port: number): Promise<void> {
  const socket = createSocket(host?.includes(':') ? 'udp6' : 'udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind({ port, exclusive: true, ...(host === undefined ? {} : { address: host }) }, () =>
      socket.close(() => resolve()),
    )
  })
}

function tryTcp(host: string | undefined, port: number): Promise<void> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, exclusive: true, ...(host === undefined ? {} : { host }) }, () =>
      server.close(() => resolve()),
    )
  })
}
