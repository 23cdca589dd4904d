import type { Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import type { TftpPacket } from '../../src/tftp/packet.ts'
import { createSharedSocket, createSharedSource } from '../../src/tftp/shared-socket.ts'
import type { DatagramBatch, OutgoingRun, ReceivedDatagram } from '../../src/udp/datagram-batch.ts'
import type { KernelUdp } from '../../src/udp/kernel-udp.ts'
import { peerKey } from '../../src/udp/peer-name.ts'
import { bindSocket } from '../fakes/tftp-client.ts'

const open: Socket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})

async function bind(): Promise<Socket> {
  const socket = await bindSocket()
  open.push(socket)
  return socket
}

/** A batch whose runs are looked at instead of sent, and that refuses those that it is told to. */
function fakeBatch(refuse?: (run: OutgoingRun) => number | undefined) {
  const flushed: string[][] = []
  const waiting: { bytes: Buffer; key: number; length?: number }[] = []
  let runs: OutgoingRun[] = []
  const batch: DatagramBatch = {
    receive(_, __, visit) {
      for (const { bytes, key, length = bytes.length } of waiting.splice(0)) {
        const datagram: ReceivedDatagram = { ring: bytes, start: 0, length, key }
        if (!visit(datagram)) return
      }
    },
    push(_, run) {
      runs.push(run)
    },
    flush() {
      const out = runs
      runs = []
      if (out.length > 0) flushed.push(out.map(({ length, segmentBytes }) => `${length}/${segmentBytes}`))
      for (const run of out) {
        const errno = refuse?.(run)
        if (errno !== undefined) run.onUnsent(run, errno)
      }
    },
  }
  const kernel: KernelUdp = { setSegment: () => true, batch }
  return { kernel, flushed, waiting }
}

async function setup(kernel?: KernelUdp) {
  const socket = await bind()
  const others: Buffer[] = []
  const shared = createSharedSocket({
    socket,
    localAddress: '127.0.0.1',
    ...(kernel === undefined ? {} : { kernel }),
    onOther: (bytes) => others.push(bytes),
  })
  async function client() {
    const peer = await bind()
    const received: Buffer[] = []
    peer.on('message', (bytes) => received.push(Buffer.from(bytes)))
    const packets: TftpPacket[] = []
    const failures: unknown[] = []
    const listener = {
      onPacket: (packet: TftpPacket) => packets.push(packet),
      onPortClosed() {},
      onSegmentationFailed: (cause: unknown) => failures.push(cause),
    }
    const address = { address: '127.0.0.1', port: peer.address().port }
    return {
      peer,
      address,
      key: Number(peerKey(address.address, address.port)),
      listener,
      packets,
      failures,
      received,
      tell: (bytes: number[]) =>
        new Promise<void>((resolve) =>
          peer.send(Buffer.from(bytes), socket.address().port, '127.0.0.1', () => resolve()),
        ),
    }
  }
  return { socket, shared, others, client }
}

async function until(check: () => boolean): Promise<void> {
  for (let turns = 0; !check() && turns < 5_000; turns += 1)
    await new Promise((resolve) => setImmediate(resolve))
  expect(check()).toBe(true)
}

const window = Buffer.concat([
  Buffer.alloc(600, 1),
  Buffer.alloc(600, 2),
  Buffer.alloc(600, 3),
  Buffer.alloc(40, 4),
])

describe('one socket for many transfers', () => {
  it('packets find their transfer, requests and strangers go elsewhere', async () => {
    const { shared, others, client } = await setup()
    const [a, b, stranger] = [await client(), await client(), await client()]
    shared.open(a.address, undefined, a.listener)
    const second = shared.open(b.address, undefined, b.listener)
    await a.tell([0, 4, 0, 1])
    await b.tell([0, 4, 0, 2])
    await b.tell([0, 5, 0, 0, 0])
    await stranger.tell([0, 4, 0, 3])
    await a.tell([0, 1, 120, 0])
    await until(() => others.length === 2)
    expect(a.packets).toEqual([{ kind: 'ack', block: 1 }])
    expect(b.packets).toEqual([
      { kind: 'ack', block: 2 },
      { kind: 'error', code: 0, message: '' },
    ])
    expect(others.map((bytes) => bytes.toString('hex'))).toEqual(['00040003', '00017800'])
    second.close()
    await b.tell([0, 4, 0, 4])
    await until(() => others.length === 3)
    expect(b.packets).toHaveLength(2)
  })

  it('plainly: one datagram a packet', async () => {
    const { shared, client } = await setup()
    const a = await client()
    shared.open(a.address, undefined, a.listener).sendRun(window, 0, window.length, 600)
    await until(() => a.received.length === 4)
    expect(a.received.map((packet) => packet.length)).toEqual([600, 600, 600, 40])
  })

  it('in a batch: answers to all that has come go out together, windows to be cut by the kernel', async () => {
    const { kernel, flushed, waiting } = fakeBatch()
    const { shared, client } = await setup(kernel)
    const [a, b] = [await client(), await client()]
    const first = shared.open(a.address, 600, {
      ...a.listener,
      onPacket: () => first.sendRun(window, 0, window.length, 600),
    })
    const second = shared.open(b.address, undefined, {
      ...b.listener,
      onPacket: () => second.sendRun(window, 0, 600, 600),
    })
    waiting.push(
      { bytes: Buffer.from([0, 4, 0, 1]), key: b.key },
      { bytes: Buffer.from([0, 4, 0, 1]), key: a.key },
      { bytes: Buffer.from([0, 4, 0, 1]), key: b.key },
    )
    await a.tell([0, 4, 0, 1])
    await until(() => flushed.length > 0)
    expect(flushed).toEqual([['1840/600', '600/0', '1840/600', '600/0']])
    // What a timer sends waits for nobody.
    second.sendRun(window, 0, 600, 600)
    expect(flushed).toHaveLength(2)
  })

  it('what arrives is not kept in the memory that the next packet overwrites', async () => {
    const { kernel, waiting } = fakeBatch()
    const { shared, others, client } = await setup(kernel)
    const [a, b] = [await client(), await client()]
    shared.open(a.address, undefined, a.listener)
    shared.open(b.address, undefined, b.listener)
    const ring = Buffer.from([0, 4, 0, 9, 0, 0])
    waiting.push({ bytes: ring, length: 4, key: Number(peerKey('127.0.0.1', 9)) })
    await a.tell([0, 4, 0, 1])
    await until(() => others.length === 1)
    ring.fill(0)
    expect(others).toEqual([Buffer.from([0, 4, 0, 9])])
  })

  it.each([
    ['cannot cut it', 5, [600, 600, 600, 40], 1],
    ['has no room just now', 11, [600, 600, 600, 40], 0],
  ])(
    'a window that the kernel does not take because it %s goes out plainly',
    async (_, errno, lengths, failures) => {
      const { kernel } = fakeBatch((run) => (run.segmentBytes > 0 ? errno : undefined))
      const { shared, client } = await setup(kernel)
      const a = await client()
      const endpoint = shared.open(a.address, 600, a.listener)
      endpoint.sendRun(window, 0, window.length, 600)
      await until(() => a.received.length === 4)
      expect(a.received.map((packet) => packet.length)).toEqual(lengths)
      expect(a.failures).toHaveLength(failures)
    },
  )

  it('after a failed window the next ones are not cut by the kernel', async () => {
    const { kernel, flushed } = fakeBatch((run) => (run.segmentBytes > 0 ? 5 : undefined))
    const { shared, client } = await setup(kernel)
    const a = await client()
    const endpoint = shared.open(a.address, 600, a.listener)
    endpoint.sendRun(window, 0, window.length, 600)
    endpoint.sendRun(window, 0, 1200, 600)
    expect(flushed).toEqual([['1840/600'], ['600/0', '600/0']])
    expect(a.failures).toHaveLength(1)
  })

  it('a single packet that is refused is a packet lost', async () => {
    const { kernel } = fakeBatch(() => 101)
    const { shared, client } = await setup(kernel)
    const a = await client()
    shared.open(a.address, undefined, a.listener).sendRun(window, 0, 600, 600)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([a.received, a.failures]).toEqual([[], []])
  })

  it('closed while packets are being taken in, it touches its descriptor no more', async () => {
    const { kernel, flushed, waiting } = fakeBatch()
    const { shared, client } = await setup(kernel)
    const [a, b] = [await client(), await client()]
    const first = shared.open(a.address, undefined, {
      ...a.listener,
      onPacket() {
        first.sendRun(window, 0, 600, 600)
        shared.close()
      },
    })
    shared.open(b.address, undefined, b.listener)
    waiting.push({ bytes: Buffer.from([0, 4, 0, 1]), key: b.key })
    await a.tell([0, 4, 0, 1])
    await until(() => flushed.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(b.packets).toEqual([])
    first.sendRun(window, 0, 600, 600)
    expect(flushed).toEqual([['600/0']])
  })

  it("a client's next transfer is on the other socket", async () => {
    const [one, two] = [await setup(), await setup()]
    const source = createSharedSource([one.shared, two.shared])
    const a = await one.client()
    await source.open(a.address, undefined, a.listener)
    expect([one.shared.has(a.address), two.shared.has(a.address)]).toEqual([true, false])
    await source.open(a.address, undefined, a.listener)
    expect(two.shared.has(a.address)).toBe(true)
    expect(await source.open(a.address, undefined, a.listener)).toEqual({
      kind: 'none',
      reason: 'no-free-port',
    })
  })
})
