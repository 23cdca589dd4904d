import type { Socket } from 'node:dgram'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** What the package `dhcp` (node-dhcp) reads of a packet: option values by number, as text. */
export interface NodeDhcpMessage {
  readonly yiaddr: string
  readonly siaddr: string
  readonly file: string
  readonly options: Readonly<Record<string, unknown>>
}

export interface NodeDhcpClient {
  readonly _sock: Socket
  _send(host: string, message: { readonly options: Record<string, unknown> }): void
  on(event: 'message', listener: (message: NodeDhcpMessage) => void): void
  on(event: 'bound', listener: (state: { readonly address: string; readonly options: object }) => void): void
  on(event: 'error', listener: (error: unknown) => void): void
  listen(port: number, host: string, done: () => void): void
  sendDiscover(): void
  close(done: () => void): void
}

export const nodeDhcp: {
  createClient(options: { readonly mac: string; readonly features: readonly string[] }): NodeDhcpClient
  createServer(options: object): NodeDhcpServer
} = require('dhcp')

export interface NodeDhcpServer {
  readonly _sock: Socket
  on(event: 'message', listener: (message: NodeDhcpMessage) => void): void
  close(): void
}

/** The package's own codec. */
export const nodeDhcpProtocol: { parse(bytes: Uint8Array): NodeDhcpMessage } = require('dhcp/lib/protocol.js')

export interface Tftp2Client {
  read(name: string, push: (data: Buffer) => void, done: () => void): Promise<void>
  close(): void
}

/** The package `tftp2`; `tftp2(host, port)` is a client. */
export const tftp2: ((host: string, port: number) => Tftp2Client) & {
  createServer(): Socket & { listen(port: number): Promise<void> }
} = require('tftp2')

/** Fetches a file with tftp2's client, which asks without options and never asks twice. */
export async function readWithTftp2(host: string, port: number, name: string): Promise<Buffer> {
  const client = tftp2(host, port)
  const chunks: Buffer[] = []
  await client.read(
    name,
    (data) => chunks.push(data),
    () => {},
  )
  client.close()
  return Buffer.concat(chunks)
}
