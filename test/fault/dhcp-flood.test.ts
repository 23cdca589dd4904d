import { createSocket, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { formatIpv4 } from '../../src/core/ipv4.ts'
import { createDhcpServer } from '../../src/dhcp/server.ts'
import { serverSettings, subnetSettings } from '../dhcp/engine-support.ts'
import { manualTimers } from '../dhcp/manual-timers.ts'
import { address4, ip, option, packetOf, request } from '../dhcp/support.ts'
import { createMemoryLeaseStore } from '../fakes/memory-lease-store.ts'
import { createRandom, mutate } from '../fuzz/dhcp-mutations.ts'

/** How long the flood lasts: 200 rounds take a second or two, a soak ten minutes or more. */
const rounds = process.env.SOAK === undefined ? 200 : 100_000
const floodPerRound = 50
const honestClients = 20
const growthLimitBytes = 64 * 1024 * 1024

const cleanUp: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

async function openUdp(): Promise<Socket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '0.0.0.0', resolve))
  cleanUp.push(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return socket
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return port
}

interface Exchange {
  /** Sends until the answer of this type comes; a datagram may be lost in a flood, as on any network. */
  ask(bytes: Uint8Array, xid: number, type: number): Promise<ReturnType<typeof packetOf>>
}

async function openHonest(serverPort: number): Promise<Exchange & { readonly port: number }> {
  const socket = await openUdp()
  const waiting = new Map<string, (packet: ReturnType<typeof packetOf>) => void>()
  socket.on('message', (bytes) => {
    const packet = packetOf(Uint8Array.from(bytes))
    waiting.get(`${packet.xid} ${packet.messageType}`)?.(packet)
  })
  return {
    port: socket.address().port,
    ask(bytes, xid, type) {
      return new Promise((resolve) => {
        const send = () => socket.send(bytes, serverPort, '127.0.0.1')
        const retry = setInterval(send, 250)
        waiting.set(`${xid} ${type}`, (packet) => {
          clearInterval(retry)
          waiting.delete(`${xid} ${type}`)
          resolve(packet)
        })
        send()
      })
    },
  }
}

describe('a flood of broken and spoofed packets', () => {
  it(`of ${rounds * floodPerRound} packets beside ${honestClients} honest machines: none of them fails, memory stays flat`, {
    timeout: 7_200_000,
  }, async () => {
    const serverPort = await freePort()
    const honest = await openHonest(serverPort)
    const flood = await openUdp()
    const server = createDhcpServer({
      settings: serverSettings({
        isAuthoritative: true,
        subnets: [
          subnetSettings({
            text: '127.0.0.0/8',
            routers: [],
            ranges: [{ first: ip('127.0.1.1'), last: ip('127.0.63.254') }],
          }),
        ],
      }),
      interfaces: ['lo'],
      decide: () => ({ kind: 'live' }),
      baseUrlOf: (address) => `http://${address}:8080`,
      leases: createMemoryLeaseStore(),
      clock: Date,
      timers: manualTimers(),
      onEvent: () => undefined,
      ports: { server: serverPort, client: honest.port, proxy: await freePort() },
      listAddresses: () => new Map([['lo', [ip('127.0.0.1')]]]),
    })
    cleanUp.push(() => server.stop())
    await server.start()

    const random = createRandom(7)
    const hexByte = () => random(256).toString(16).padStart(2, '0')
    const spoofedDiscover = () =>
      request({
        xid: random(0xffffffff),
        chaddr: `02${hexByte()}${hexByte()}${hexByte()}${hexByte()}${hexByte()}`,
      })
    const chaddrOf = (client: number) => `5254ff0000${client.toString(16).padStart(2, '0')}`

    async function acquire(client: number, round: number): Promise<string> {
      const xid = 0x7e000000 + round * 64 + client
      const chaddr = chaddrOf(client)
      const offer = await honest.ask(request({ xid, chaddr }), xid, 2)
      const options = `${option(53, 3)} ${address4(50, formatIpv4(offer.yiaddr))} ${address4(54, '127.0.0.1')} ff`
      const reply = await honest.ask(request({ xid, chaddr, options }), xid, 5)
      return formatIpv4(reply.yiaddr)
    }

    let before = 0
    const held = new Map<number, string>()
    for (let round = 0; round < rounds; round++) {
      for (let sent = 0; sent < floodPerRound; sent++) {
        // Machines that really take their leases fill the pool by right: the flood asks, and seldom takes.
        const packet = random(2) === 0 ? spoofedDiscover() : withoutRequest(mutate(random))
        flood.send(packet, serverPort, '127.0.0.1')
      }
      const client = round % honestClients
      const address = await acquire(client, round)
      expect(held.get(client) ?? address).toBe(address)
      held.set(client, address)
      if (round === Math.floor(rounds / 4)) before = process.memoryUsage().rss
    }

    expect(new Set(held.values()).size).toBe(honestClients)
    expect(process.memoryUsage().rss - before).toBeLessThan(growthLimitBytes)
    const { silences } = server.counts()
    expect(silences['packet-failed']).toBe(0)
    expect(silences['pool-exhausted']).toBe(0)
    expect(silences['packet-option-truncated']).toBeGreaterThan(0)
    const [usage] = server.usage()
    expect(usage?.offered).toBeLessThanOrEqual(4096)
    expect(usage?.leased).toBeGreaterThanOrEqual(honestClients)
  })
})

function withoutRequest(bytes: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(Buffer.of(53, 1, 3))
  if (at >= 0) bytes[at + 2] = 1
  return bytes
}
