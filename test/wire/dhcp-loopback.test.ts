import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { formatIpv4 } from '../../src/core/ipv4.ts'
import { loadDeviceSockets } from '../../src/dhcp/bind-to-device.ts'
import type { DhcpPorts } from '../../src/dhcp/destination.ts'
import { decodePacket } from '../../src/dhcp/packet.ts'
import type { DhcpTap } from '../../src/dhcp/packet-tap.ts'
import { createDhcpServer, type DhcpServer, type DhcpServerParts } from '../../src/dhcp/server.ts'
import { proxySettings, serverSettings, subnetSettings } from '../dhcp/engine-support.ts'
import { manualTimers } from '../dhcp/manual-timers.ts'
import { address4, fixture, ip, mac, option, packetOf, recorder, request } from '../dhcp/support.ts'
import { createMemoryLeaseStore } from '../fakes/memory-lease-store.ts'

const devices = await loadDeviceSockets()
const lo = new Map([['lo', [ip('127.0.0.1')]]])

const cleanUp: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

interface Client {
  readonly port: number
  send(bytes: Uint8Array, port: number): void
  next(): Promise<{ readonly bytes: Buffer; readonly from: RemoteInfo }>
}

async function openUdp(address?: string, port = 0): Promise<Socket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(port, address, resolve))
  cleanUp.push(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return socket
}

/** A client on loopback; it hears broadcasts as well. */
async function openClient(): Promise<Client> {
  const socket = await openUdp()
  const arrived: { bytes: Buffer; from: RemoteInfo }[] = []
  let wake = (): void => undefined
  socket.on('message', (bytes, from) => {
    arrived.push({ bytes, from })
    wake()
  })
  return {
    port: socket.address().port,
    send: (bytes, port) => socket.send(bytes, port, '127.0.0.1'),
    async next() {
      while (arrived.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return arrived.shift() as { bytes: Buffer; from: RemoteInfo }
    },
  }
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return port
}

interface Started {
  readonly server: DhcpServer
  readonly client: Client
  readonly ports: DhcpPorts
  readonly events: ReturnType<typeof recorder>
}

async function create(parts: Partial<DhcpServerParts> = {}): Promise<Started> {
  const client = await openClient()
  const ports = { server: await freePort(), client: client.port, proxy: await freePort() }
  const events = recorder()
  const server = createDhcpServer({
    settings: proxySettings,
    interfaces: ['lo'],
    decide: () => ({ kind: 'live' }),
    baseUrlOf: (address) => `http://${address}:8080`,
    clock: Date,
    timers: manualTimers(),
    onEvent: events.onEvent,
    ports,
    listAddresses: () => lo,
    ...parts,
  })
  cleanUp.push(() => server.stop())
  return { server, client, ports, events }
}

async function start(parts: Partial<DhcpServerParts> = {}): Promise<Started> {
  const started = await create(parts)
  await started.server.start()
  return started
}

const ways: readonly [string, Partial<DhcpServerParts>][] = [
  ['without koffi', { loadDevices: async () => undefined }],
  ...(devices
    ? [['bound to the device', { loadDevices: async () => devices }] as [string, Partial<DhcpServerParts>]]
    : []),
]
if (!devices) console.log('koffi is not installed: sockets bound to a device are not tried')

describe.each(ways)('sockets %s', (_, way) => {
  it('answer a DISCOVER by broadcast, from our address and the server port', async () => {
    const { client, ports, server } = await start(way)
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    const { bytes, from } = await client.next()
    expect(packetOf(bytes)).toMatchObject({ messageType: 2, xid: 0x5b1a2c3d, siaddr: ip('127.0.0.1') })
    expect([from.address, from.port]).toEqual(['127.0.0.1', ports.server])
    expect(server.counts().replies.offer).toBe(1)
  })

  it('answer port 4011 from that port and the address that was asked (cases 7, 21, 50)', async () => {
    const { client, ports, server } = await start(way)
    client.send(fixture('edk2-pxe-x64-4011'), ports.proxy)
    const { bytes, from } = await client.next()
    expect(packetOf(bytes).messageType).toBe(5)
    expect([from.address, from.port]).toEqual(['127.0.0.1', ports.proxy])
    expect(server.addressOf(mac('52:54:00:ab:cd:ef'))).toBe(ip('192.0.2.55'))
    expect(server.macOf(ip('192.0.2.55'))).toBe('52:54:00:ab:cd:ef')
  })

  it('show a tap every packet as it comes and goes, on both ports, with whose it is', async () => {
    const seen: string[] = []
    const tap: DhcpTap = (bytes, isOurs, local, localPort, peer, peerPort) => {
      const { packet } = decodePacket(bytes)
      const [here, there] = [`${formatIpv4(local)}:${localPort}`, `${formatIpv4(peer)}:${peerPort}`]
      seen.push(`${packet?.messageType} ${here} ${isOurs ? '>' : '<'} ${there}`)
    }
    const { client, ports } = await start({ ...way, tap })
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    await client.next()
    client.send(fixture('edk2-pxe-x64-4011'), ports.proxy)
    await client.next()
    client.send(new Uint8Array(3), ports.server)
    client.send(request({ options: '35 01 01', giaddr: '198.51.100.1' }), ports.server)
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    await client.next()
    const discover = [
      `1 255.255.255.255:${ports.server} < 0.0.0.0:${ports.client}`,
      `2 127.0.0.1:${ports.server} > 255.255.255.255:${ports.client}`,
    ]
    expect(seen).toEqual([
      ...discover,
      `3 127.0.0.1:${ports.proxy} < 127.0.0.1:${ports.client}`,
      `5 127.0.0.1:${ports.proxy} > 127.0.0.1:${ports.client}`,
      `undefined 255.255.255.255:${ports.server} < 0.0.0.0:${ports.client}`,
      `1 127.0.0.1:${ports.server} < 198.51.100.1:${ports.server}`,
      ...discover,
    ])
  })

  it('count what they ignore, and go on (case 38)', async () => {
    const { client, ports, server } = await start(way)
    for (const bytes of [
      new Uint8Array(0),
      new Uint8Array(1500).fill(255),
      request({ hlen: 255 }),
      fixture('udhcpc-discover'),
    ])
      client.send(bytes, ports.server)
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    expect(packetOf((await client.next()).bytes).messageType).toBe(2)
    expect(server.counts().silences).toMatchObject({
      'packet-op-unknown': 1,
      'packet-hardware-address-too-long': 1,
      'not-a-boot-client': 1,
      'loader-missing': 0,
    })
  })

  it('say which port is taken, and what to do', async () => {
    const { server, ports } = await create(way)
    await openUdp('0.0.0.0', ports.server)
    await expect(server.start()).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      message: expect.stringMatching(
        new RegExp(`UDP port ${ports.server} on lo: another program has it.*ss -ulpn`),
      ),
    })
    expect(server.isReady()).toBe(false)
  })

  it('leave nothing open when the second port is taken', async () => {
    const { server, ports } = await create(way)
    await openUdp('0.0.0.0', ports.proxy)
    await expect(server.start()).rejects.toMatchObject({ code: 'LISTEN_FAILED' })
    await openUdp('0.0.0.0', ports.server)
  })

  it('are opened when the address appears, closed when it goes, and opened again', async () => {
    let addresses: ReadonlyMap<string, readonly ReturnType<typeof ip>[]> = new Map()
    const timers = manualTimers()
    const { server, client, ports, events } = await start({ ...way, timers, listAddresses: () => addresses })
    expect(server.isReady()).toBe(false)
    expect(server.wires()).toEqual([{ interface: 'lo', isReady: false, problem: 'has no IPv4 address yet' }])

    addresses = lo
    await timers.advance(1000)
    expect(server.isReady()).toBe(true)
    expect(server.wires()).toEqual([{ interface: 'lo', isReady: true, address: '127.0.0.1' }])
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    expect(packetOf((await client.next()).bytes).messageType).toBe(2)

    addresses = new Map()
    await timers.advance(1000)
    expect(server.isReady()).toBe(false)
    addresses = lo
    await timers.advance(1000)
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    expect(packetOf((await client.next()).bytes).messageType).toBe(2)
    expect(events.types().filter((type) => type.startsWith('interface-'))).toEqual([
      ...['interface-not-ready', 'interface-ready', 'interface-not-ready', 'interface-ready'],
    ])
  })

  it('announce another address of the interface when that is preferred', async () => {
    const two = new Map([['lo', [ip('127.0.0.1'), ip('127.0.0.2')]]])
    const { client, ports } = await start({
      ...way,
      listAddresses: () => two,
      preferredAddress: ip('127.0.0.2'),
    })
    client.send(fixture('edk2-http-x64-discover'), ports.server)
    const { bytes, from } = await client.next()
    expect(packetOf(bytes).siaddr).toBe(ip('127.0.0.2'))
    expect(bytes.toString('latin1')).toContain('http://127.0.0.2:8080/loaders/snponly.efi')
    expect(from.address).toBe('127.0.0.2')
  })

  it('may be stopped twice, and before they were started', async () => {
    const { server } = await start(way)
    await server.stop()
    await server.stop()
    expect(server.isReady()).toBe(false)
    await (await create(way)).server.stop()
  })
})

describe('a mistake in the decision', () => {
  it('costs one answer, and is told with the packet; the next machine is served', async () => {
    let mistakes = 1
    const decide = () => {
      if (mistakes-- > 0) throw new TypeError('no such profile')
      return { kind: 'live' } as const
    }
    const { client, ports, events, server } = await start({ decide })
    client.send(fixture('edk2-pxe-x64-discover'), ports.server)
    client.send(fixture('edk2-pxe-arm64-discover'), ports.server)
    expect(packetOf((await client.next()).bytes).xid).toBe(0x5b1a2c41)
    expect(events.events).toContainEqual(
      expect.objectContaining({
        type: 'packet-failed',
        packet: Buffer.from(fixture('edk2-pxe-x64-discover')).toString('hex'),
      }),
    )
    expect(server.counts().silences['packet-failed']).toBe(1)
  })
})

describe('several interfaces', () => {
  it('cannot be told apart without bound sockets: start says what is needed', async () => {
    const { server } = await create({ interfaces: ['eth0', 'eth1'], loadDevices: async () => undefined })
    await expect(server.start()).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      message: expect.stringMatching(/koffi, or a socket unit/),
    })
  })
})

describe('leases on the wire', () => {
  const settings = serverSettings({
    subnets: [
      subnetSettings({ text: '127.0.0.0/8', ranges: [{ first: ip('127.0.1.1'), last: ip('127.0.1.9') }] }),
    ],
  })
  const requestFor = (address: string) =>
    request({ options: `${option(53, 3)} ${address4(50, address)} ${address4(54, '127.0.0.1')} ff` })

  async function startServer(stored: Parameters<typeof createMemoryLeaseStore>[0] = []) {
    const leases = createMemoryLeaseStore(stored)
    return { ...(await start({ settings, leases })), leases }
  }

  async function offered({ client, ports }: Started): Promise<string> {
    client.send(request(), ports.server)
    const { yiaddr } = packetOf((await client.next()).bytes)
    return `127.0.1.${yiaddr & 255}`
  }

  it('are stored before the acknowledgement leaves', async () => {
    const started = await startServer()
    const address = await offered(started)
    const resume = started.leases.pause()
    started.client.send(requestFor(address), started.ports.server)
    // An answer to something else overtakes it: the acknowledgement is really waiting.
    started.client.send(request({ options: '35 01 08 ff', ciaddr: '127.0.0.1' }), started.ports.server)
    expect(packetOf((await started.client.next()).bytes)).toMatchObject({ messageType: 5, yiaddr: 0 })
    expect(started.leases.stored).toEqual([])
    resume()
    expect(packetOf((await started.client.next()).bytes)).toMatchObject({
      messageType: 5,
      yiaddr: ip(address),
    })
    expect(started.leases.stored).toMatchObject([{ kind: 'leased', address: ip(address) }])
  })

  it('that cannot be stored are not acknowledged, and the service is not ready until one can', async () => {
    const started = await startServer()
    const address = await offered(started)
    started.leases.failNext(new Error('disk full'))
    started.client.send(requestFor(address), started.ports.server)
    await offered(started)
    while (started.leases.batches.length < 1) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(started.server.isReady()).toBe(false)
    expect(started.events.events).toContainEqual(
      expect.objectContaining({ type: 'leases-not-stored', problem: 'disk full' }),
    )
    started.client.send(requestFor(address), started.ports.server)
    expect(packetOf((await started.client.next()).bytes)).toMatchObject({
      messageType: 5,
      yiaddr: ip(address),
    })
    expect(started.server.isReady()).toBe(true)
  })

  it('are known after a restart, so that the address is the machine’s and nobody else’s', async () => {
    const until = Math.floor(Date.now() / 1000) + 600
    const started = await startServer([
      { kind: 'leased', address: ip('127.0.1.7'), key: '52:54:00:ab:cd:ef' as never, until },
    ])
    expect(await offered(started)).toBe('127.0.1.7')
    expect(started.server.addressOf(mac('52:54:00:ab:cd:ef'))).toBe(ip('127.0.1.7'))
    expect(started.server.usage()).toEqual([
      { subnet: '127.0.0.0/8', size: 9, leased: 1, offered: 0, declined: 0 },
    ])
  })

  it('that wait are stored and acknowledged when the service stops', async () => {
    const started = await startServer()
    const address = await offered(started)
    started.client.send(requestFor(address), started.ports.server)
    while (started.server.usage()[0]?.leased === 0) await new Promise((resolve) => setImmediate(resolve))
    await started.server.stop()
    expect(packetOf((await started.client.next()).bytes)).toMatchObject({
      messageType: 5,
      yiaddr: ip(address),
    })
    expect(started.leases.stored).toHaveLength(1)
  })
})
