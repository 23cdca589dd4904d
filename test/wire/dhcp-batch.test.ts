import { createSocket, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { loadDeviceSockets } from '../../src/dhcp/bind-to-device.ts'
import { createDhcpServer, type DhcpServerParts } from '../../src/dhcp/server.ts'
import { loadKernelUdp } from '../../src/udp/kernel-udp.ts'
import { proxySettings, serverSettings, subnetSettings } from '../dhcp/engine-support.ts'
import { ip, option, packetOf, recorder, request } from '../dhcp/support.ts'
import { createMemoryLeaseStore } from '../fakes/memory-lease-store.ts'

const devices = await loadDeviceSockets()
const batch = (await loadKernelUdp())?.batch
if (batch === undefined || devices === undefined)
  console.log('koffi is not here, so DHCP by many datagrams a call is not tried')

const cleanUp: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

async function openUdp(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(0, resolve))
  cleanUp.push(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return socket
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}

async function start(parts: Partial<DhcpServerParts>) {
  const client = await openUdp()
  const events = recorder()
  const ports = { server: await freePort(), proxy: await freePort(), client: client.address().port }
  const server = createDhcpServer({
    settings: proxySettings,
    interfaces: ['lo'],
    decide: () => ({ kind: 'live' }),
    baseUrlOf: (address) => `http://${address}:8080`,
    clock: Date,
    timers: { after: () => () => undefined },
    onEvent: events.onEvent,
    ports,
    listAddresses: () => new Map([['lo', [ip('127.0.0.1')]]]),
    ...(batch === undefined ? {} : { batch }),
    ...parts,
  })
  await server.start()
  cleanUp.push(() => server.stop())
  const replies: Buffer[] = []
  let wake = (): void => undefined
  client.on('message', (bytes) => {
    replies.push(bytes)
    wake()
  })
  return {
    server,
    events,
    replies,
    send: (bytes: Uint8Array, port: keyof typeof ports = 'server') =>
      client.send(bytes, ports[port], '127.0.0.1'),
    async until(count: number) {
      while (replies.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
  }
}

const chaddr = (index: number) => `52540000${index.toString(16).padStart(4, '0')}`
const boots = `${option(60, 'PXEClient')} 5d 02 00 07 ff`

describe.skipIf(batch === undefined || devices === undefined)('DHCP with many datagrams a call', () => {
  it('answers each machine of a crowd with its own transaction and address', async () => {
    const { send, until, replies } = await start({})
    for (let index = 1; index <= 200; index++)
      send(request({ xid: index, chaddr: chaddr(index), ciaddr: '127.0.0.1', options: `35 01 01 ${boots}` }))
    await until(200)
    const packets = replies.map(packetOf)
    expect(packets.map(({ xid }) => xid).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, index) => index + 1),
    )
    for (const { xid, chaddr: hardware } of packets)
      expect(Buffer.from(hardware).toString('hex')).toBe(chaddr(xid))
  })

  it('answers on port 4011 where the request came from', async () => {
    const { send, until, replies } = await start({})
    for (let index = 1; index <= 50; index++)
      send(
        request({ xid: index, chaddr: chaddr(index), ciaddr: '127.0.0.1', options: `35 01 03 ${boots}` }),
        'proxy',
      )
    await until(50)
    expect(replies.every((bytes) => packetOf(bytes).messageType === 5)).toBe(true)
  })

  it('a packet that is no DHCP between two that are costs neither its answer', async () => {
    const { send, until, replies, server } = await start({})
    const good = (index: number) =>
      request({ xid: index, chaddr: chaddr(index), ciaddr: '127.0.0.1', options: `35 01 01 ${boots}` })
    for (const bytes of [
      good(1),
      Buffer.alloc(3),
      Buffer.alloc(5000, 1),
      good(2),
      Buffer.alloc(240),
      good(3),
    ])
      send(bytes)
    await until(3)
    expect(replies).toHaveLength(3)
    expect(server.counts().silences).toMatchObject({ 'packet-too-short': 1, 'packet-too-long': 1 })
  })

  it('acknowledgements leave together once their leases are stored, each to its machine', async () => {
    const subnet = subnetSettings({
      text: '127.0.0.0/24',
      ranges: [{ first: ip('127.0.0.100'), last: ip('127.0.0.199') }],
    })
    const leases = createMemoryLeaseStore()
    const { send, until, replies } = await start({
      settings: serverSettings({ subnets: [subnet], isAuthoritative: true }),
      leases,
    })
    for (let index = 1; index <= 60; index++)
      send(
        request({
          xid: index,
          chaddr: chaddr(index),
          ciaddr: `127.0.0.${99 + index}`,
          options: `35 01 03 ff`,
        }),
      )
    // They go to the addresses that were asked for, all of which are this machine's.
    await until(60)
    expect(replies.map((bytes) => packetOf(bytes).messageType)).toEqual(Array(60).fill(5))
  })
})
