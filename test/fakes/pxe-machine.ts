import { createSocket } from 'node:dgram'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { DhcpPorts } from '../../src/dhcp/destination.ts'
import { type DhcpPacket, decodePacket } from '../../src/dhcp/packet.ts'
import { address4, option, type RequestFields, request } from '../dhcp/support.ts'
import { type ClientOptions, type ClientResult, readByTftp } from './tftp-client.ts'

/** The loopback as a boot network: every machine hears broadcasts at the same port. */
export interface BootWire {
  machine(description: PxeMachineDescription): PxeMachine
  close(): Promise<void>
}

export interface PxeMachineDescription {
  readonly mac: string
  /** In 127.0.0.0/8: what it fetches it asks for from here. */
  readonly address: string
  /** Option 93. Default: 7, UEFI for x64. */
  readonly architecture?: number
  /** Default: `PXEClient`. */
  readonly bootClass?: 'PXEClient' | 'HTTPClient'
}

/** A machine that boots from the network as far as a test wants it to: real packets, real bytes, no time of its own. */
export interface PxeMachine {
  readonly mac: string
  /** A DISCOVER of its firmware, of the same run as the one before unless it is a new one; resolves with the offer. */
  discover(options?: { readonly isNew?: boolean; readonly isIpxe?: boolean }): Promise<DhcpPacket>
  /** Takes the address of a DHCP server that is not ours; nobody of ours answers. */
  takesAddressOf(server: string): void
  /** Takes the address that was offered here; resolves with the ACK. */
  accept(offer: DhcpPacket): Promise<DhcpPacket>
  /** Asks port 4011 for a boot server of this type; resolves with the answer. */
  askBootServer(type: number): Promise<DhcpPacket>
  fetchByTftp(name: string, options?: Partial<ClientOptions>): Promise<ClientResult>
  get(url: string): Promise<Buffer>
  head(url: string): Promise<void>
  /** Begins to fetch, and goes away in the middle. */
  getSomeOf(url: string): Promise<void>
  post(url: string, body: object): Promise<void>
  /** Fetches the entry script and its own one. */
  fetchScript(): Promise<BootScript>
}

/** What a script makes a machine fetch. */
export interface BootScript {
  readonly text: string
  readonly kernel: string
  readonly initramfs: string
  readonly rootfs: string
  readonly ignition: string
}

type Options = Pick<PxeMachineDescription, 'architecture' | 'bootClass'>

const answerMs = 10_000

/** @param bootUrl where the boot listener is */
export async function openBootWire(network: {
  readonly ports: DhcpPorts
  readonly tftpPort: number
  readonly bootUrl: string
}): Promise<BootWire> {
  const { ports, tftpPort, bootUrl } = network
  const socket = createSocket('udp4')
  const waiting = new Map<number, (packet: DhcpPacket) => void>()
  await new Promise<void>((resolve) => socket.bind(ports.client, resolve))
  const onMessage = (bytes: Buffer) => {
    const { packet } = decodePacket(bytes)
    if (packet !== undefined) waiting.get(packet.xid)?.(packet)
  }
  socket.on('message', onMessage)
  let lastXid = 0x70_00_00_00
  function nextXid(): number {
    lastXid += 1
    return lastXid
  }

  /** Answers of port 4011 go to where the question came from, broadcasts to the port of clients: both are this socket. */
  function ask(packet: Uint8Array, xid: number, port: number): Promise<DhcpPacket> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.delete(xid)
        reject(new Error(`no answer to ${xid.toString(16)} within ${answerMs} ms`))
      }, answerMs)
      waiting.set(xid, (answer) => {
        clearTimeout(late)
        waiting.delete(xid)
        resolve(answer)
      })
      socket.send(packet, port, '127.0.0.1')
    })
  }

  function createMachine({ mac, address, ...kind }: PxeMachineDescription): PxeMachine {
    const chaddr = mac.replaceAll(':', '')
    const uuid = `611100${'9d1c0a5e00004000800'.padEnd(20, '0')}${chaddr}`
    let xid = 0

    function packet(fields: RequestFields, options: readonly string[], isIpxe = false): Uint8Array {
      const all = [...options, ...bootOptions(kind, isIpxe), uuid, 'ff'].join('')
      return request({ chaddr, xid, flags: 0x8000, ...fields, options: all })
    }

    const ofType = (type: number) => option(53, type)

    const machine: PxeMachine = {
      mac,
      discover({ isNew = xid === 0, isIpxe = false } = {}) {
        if (isNew || isIpxe) xid = nextXid()
        return ask(packet({}, [ofType(1)], isIpxe), xid, ports.server)
      },
      takesAddressOf(server) {
        const options = [ofType(3), address4(54, server), address4(50, address)]
        socket.send(packet({}, options), ports.server, '127.0.0.1')
      },
      accept(offer) {
        const ours = Buffer.alloc(4)
        ours.writeUInt32BE(offer.yiaddr)
        const options = [ofType(3), address4(54, '127.0.0.1'), option(50, ...ours)]
        return ask(packet({}, options), xid, ports.server)
      },
      askBootServer(type) {
        const own = nextXid()
        // Sub-option 71 of option 43: type and layer.
        const options = [ofType(3), option(43, 71, 4, type >> 8, type & 255, 0, 0, 255)]
        return ask(packet({ xid: own, ciaddr: address }, options), own, ports.proxy)
      },
      fetchByTftp: (name, options = {}) =>
        readByTftp({
          server: { address: '127.0.0.1', port: tftpPort },
          name,
          localAddress: address,
          options: { tsize: 0, blksize: 1468 },
          ...options,
        }),
      get: (url) => exchange('GET', url, readWhole),
      head: (url) => exchange('HEAD', url, async (response) => void response.resume()),
      getSomeOf: (url) =>
        exchange('GET', url, async (response) => {
          await new Promise<void>((resolve) => response.once('data', () => resolve()))
          response.destroy()
        }),
      async post(url, body) {
        await exchange('POST', url, readWhole, JSON.stringify(body))
      },
      async fetchScript() {
        await machine.get('/boot.ipxe')
        const text = (
          await machine.get(`/ipxe?mac=${mac}&arch=x86_64&buildarch=x86_64&platform=efi`)
        ).toString()
        return readScript(text)
      },
    }

    function exchange<T>(
      method: string,
      url: string,
      read: (response: IncomingMessage) => Promise<T>,
      body?: string,
    ): Promise<T> {
      // Scripts name the port that the service knows itself by, which is the one that we ask.
      const { pathname, search } = new URL(url, bootUrl)
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      return new Promise((resolve, reject) => {
        const asked = httpRequest(new URL(pathname + search, bootUrl), {
          method,
          headers,
          localAddress: address,
          agent: false,
        })
        asked.once('error', reject)
        asked.once('response', (response) => {
          response.on('error', () => {})
          if ((response.statusCode ?? 0) < 400) read(response).then(resolve, reject)
          else reject(new Error(`${method} ${url} answered ${response.statusCode}`))
        })
        asked.end(body)
      })
    }

    return machine
  }

  return {
    machine: createMachine,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function bootOptions({ architecture = 7, bootClass = 'PXEClient' }: Options, isIpxe: boolean) {
  const digits = String(architecture).padStart(5, '0')
  return [
    option(93, architecture >> 8, architecture & 255),
    option(94, 1, 3, 0),
    option(60, `${bootClass}:Arch:${digits}:UNDI:003000`),
    option(55, 1, 3, 6, 43, 54, 60, 66, 67),
    ...(isIpxe ? [option(77, 'iPXE')] : []),
  ]
}

async function readWhole(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function readScript(text: string): BootScript {
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
  return {
    text,
    kernel: find(/^kernel .*?(http:\S*kernel\S*)/m),
    initramfs: find(/^initrd .*?(http:\S*initramfs\S*)/m),
    rootfs: find(/coreos\.live\.rootfs_url=(\S+)/),
    ignition: find(/ignition\.config\.url=(\S+)/),
  }
}
