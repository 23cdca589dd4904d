import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { DhcpPorts } from '../../src/dhcp/destination.ts'
import { freeUdpPort } from '../fakes/free-port.ts'
import { type NodeDhcpClient, type NodeDhcpMessage, nodeDhcp } from '../fakes/npm-peers.ts'
import { startPortedService } from '../fakes/service-process.ts'

const cleanUp: (() => Promise<unknown> | unknown)[] = []
let directory: string
let ports: DhcpPorts

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-dhcp-npm-'))
  cleanUp.push(() => rm(directory, { recursive: true, force: true }))
  ports = { server: await freeUdpPort(), client: await freeUdpPort(), proxy: await freeUdpPort() }
})
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

async function serve(dhcp: object): Promise<void> {
  const file = join(directory, 'pilotlight.yaml')
  const config = {
    version: 1,
    dataDir: join(directory, 'data'),
    boot: { http: { listen: '127.0.0.1:0' }, dhcp: { interface: 'lo', ...dhcp } },
    admin: { listen: '127.0.0.1:0' },
    streams: {},
    profiles: { worker: { mode: 'local' } },
    unknown: { profile: 'worker' },
  }
  await writeFile(file, stringify(config))
  const service = await startPortedService(file, ports)
  cleanUp.push(() => service.kill())
}

interface Client {
  readonly client: NodeDhcpClient
  /** Everything that came, in order. */
  readonly messages: NodeDhcpMessage[]
  /** Option numbers of what it sent, in order. */
  readonly sent: string[][]
  ask(): void
  next(): Promise<NodeDhcpMessage>
}

/**
 * The package's client, with its packets sent to our port on loopback: it knows port 67 alone.
 * @param complete adds what RFC 2131 (table 5) wants in a REQUEST and the package leaves out
 */
async function startClient(complete = false): Promise<Client> {
  const features = ['router', 'dns', 'domainName']
  const client = nodeDhcp.createClient({ mac: '52-54-00-AB-CD-EF', features })
  const messages: NodeDhcpMessage[] = []
  const sent: string[][] = []
  let wake = (): void => {}
  client.on('message', (message) => {
    messages.push(message)
    wake()
  })
  client.on('error', () => {})
  const send = client._send.bind(client)
  client._send = (to, message) => {
    const [offer] = messages
    const isRequest = message.options['53'] === 3
    if (complete && isRequest && offer !== undefined)
      Object.assign(message.options, { 50: offer.yiaddr, 54: offer.options['54'] })
    sent.push(Object.keys(message.options).filter((code) => message.options[code] !== null))
    send(to, message)
  }
  const sendPacket = client._sock.send.bind(client._sock)
  Object.assign(client._sock, {
    send: (bytes: Buffer, offset: number, length: number, _port: number, _to: string, done: () => void) =>
      sendPacket(bytes, offset, length, ports.server, '127.0.0.1', done),
  })
  await new Promise<void>((resolve) => client.listen(ports.client, '0.0.0.0', resolve))
  cleanUp.push(() => new Promise<void>((resolve) => client.close(resolve)))
  let read = 0
  return {
    client,
    messages,
    sent,
    ask: () => client.sendDiscover(),
    async next() {
      while (messages.length <= read)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      read += 1
      return messages[read - 1] as NodeDhcpMessage
    },
  }
}

const server = {
  mode: 'server',
  subnets: [
    {
      subnet: '127.0.0.0/8',
      ranges: ['127.0.9.10-127.0.9.20'],
      routers: ['127.0.0.1'],
      dns: ['127.0.0.1'],
      domain: 'example.test',
      leaseTime: '1h',
    },
  ],
}

const network = {
  1: '255.0.0.0',
  3: ['127.0.0.1'],
  6: ['127.0.0.1'],
  15: 'example.test',
  51: 3600,
  54: '127.0.0.1',
  58: 1800,
  59: 3150,
}

describe('the npm package dhcp as a client of the built service', () => {
  it('reads address, mask, routers, names and times of our offer', async () => {
    await serve(server)
    const { ask, next, sent } = await startClient()
    ask()
    expect(await next()).toMatchObject({ yiaddr: '127.0.9.10', options: { ...network, 53: 2 } })
    expect(sent[0]).toEqual(['53', '55', '57', '61'])
  })

  it('names neither address nor server in its REQUEST, as RFC 2131 wants, so it gets no lease', async () => {
    await serve(server)
    const stranger = await startClient()
    stranger.ask()
    await stranger.next()
    // Its next DISCOVER is answered; what is answered in between would have come before.
    stranger.ask()
    expect(await stranger.next()).toMatchObject({ yiaddr: '127.0.9.10', options: { 53: 2 } })
    expect(stranger.sent[1]).toEqual(['53', '55', '57', '61'])
    expect(stranger.messages.map(({ options }) => options['53'])).toEqual([2, 2])
  })

  it('is bound with the right address once these two are there', async () => {
    await serve(server)
    const { client, ask, next, sent } = await startClient(true)
    const bound = new Promise<{ address: string; options: object }>((resolve) => client.on('bound', resolve))
    ask()
    await next()
    expect(await next()).toMatchObject({ yiaddr: '127.0.9.10', options: { ...network, 53: 5 } })
    expect(sent[1]).toEqual(['50', '53', '54', '55', '57', '61'])
    expect(await bound).toMatchObject({
      address: '127.0.9.10',
      options: {
        netmask: '255.0.0.0',
        router: ['127.0.0.1'],
        dns: ['127.0.0.1'],
        domainName: 'example.test',
      },
    })
  })

  it('is no boot client, so a proxy leaves it to the site', async () => {
    await serve({ mode: 'proxy' })
    const { ask, messages, client } = await startClient()
    ask()
    // A machine that boots is answered after it, and before it if it had been answered.
    const packet = Buffer.alloc(300)
    packet.set([1, 1, 6])
    packet.writeUInt32BE(7, 4)
    packet.set([0x52, 0x54, 0, 0xab, 0xcd, 0xee], 28)
    packet.writeUInt32BE(0x63825363, 236)
    packet.set([53, 1, 1, 93, 2, 0, 7, 60, 9, ...Buffer.from('PXEClient'), 255], 240)
    const answered = new Promise<void>((resolve) => client._sock.once('message', () => resolve()))
    client._sock.send(packet, 0, packet.length, ports.server, '127.0.0.1', () => {})
    await answered
    expect(messages.map(({ file }) => file.replace(/\0.*/s, ''))).toEqual(['snponly.efi'])
  })
})
