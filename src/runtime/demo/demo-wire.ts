import { createSocket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import type { DhcpPorts } from '../../dhcp/destination.ts'
import { type DhcpClient, openDhcpClient } from '../clients/dhcp-client.ts'

/** The loopback as a boot network: DHCP on ports that need no rights, and a machine's end of it. */
export interface DemoWire {
  readonly interface: string
  readonly ports: DhcpPorts
  readonly client: DhcpClient
}

/** `undefined` where the loopback interface cannot be found. Whoever opens it closes the client. */
export async function openDemoWire(): Promise<DemoWire | undefined> {
  const loopback = Object.entries(networkInterfaces()).find(([, entries = []]) =>
    entries.some(({ address }) => address === '127.0.0.1'),
  )
  if (loopback === undefined) return undefined
  const client = await openDhcpClient({ port: 0 })
  const ports = { server: await freePort(), proxy: await freePort(), client: client.port }
  return { interface: loopback[0], ports, client }
}

/** Free a moment ago; nobody on a quiet machine takes it before we do. */
async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}
