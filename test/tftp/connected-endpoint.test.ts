import type { Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnectedSource } from '../../src/tftp/connected-endpoint.ts'
import { createEphemeralPorts, createPortRange } from '../../src/tftp/transfer-ports.ts'
import { type KernelUdp, loadKernelUdp } from '../../src/udp/kernel-udp.ts'
import { bindSocket } from '../fakes/tftp-client.ts'

const realKernel = await loadKernelUdp()
if (realKernel === undefined)
  console.log('koffi is not installed: real kernel segmentation is not tried here')

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** Lets whole windows fail as a kernel does that cannot segment on this path (EIO with IPsec, for one). */
function failingKernel(code: string) {
  const set: number[] = []
  const plainSends = new WeakMap<Socket, Socket['send']>()
  const kernel: KernelUdp = {
    setSegment(socket, segmentBytes) {
      set.push(segmentBytes)
      const plain = plainSends.get(socket) ?? socket.send
      plainSends.set(socket, plain)
      socket.send = ((bytes: Buffer, offset: number, length: number, callback?: (error: Error) => void) => {
        const isWindow = segmentBytes > 0 && length > segmentBytes
        if (!isWindow) return plain.call(socket, bytes, offset, length)
        process.nextTick(() => callback?.(Object.assign(new Error(code), { code })))
      }) as Socket['send']
      return true
    },
  }
  return { kernel, set }
}

async function connect(kernel?: KernelUdp) {
  const peer = await bindSocket()
  open.push(peer)
  const received: Buffer[] = []
  peer.on('message', (bytes) => received.push(Buffer.from(bytes)))
  const failures: unknown[] = []
  let closed = 0
  const source = createConnectedSource({
    localAddress: '127.0.0.1',
    ports: createEphemeralPorts(),
    ...(kernel === undefined ? {} : { kernel }),
  })
  const result = await source.open(peer.address(), kernel === undefined ? undefined : 100, {
    onPacket() {},
    onPortClosed() {
      closed += 1
    },
    onSegmentationFailed: (cause) => failures.push(cause),
  })
  if (result.kind === 'none') throw new Error(result.reason)
  open.push(result.endpoint)
  return {
    endpoint: result.endpoint,
    received,
    failures,
    closed: () => closed,
    async come(count: number): Promise<void> {
      while (received.length < count) await new Promise((resolve) => peer.once('message', resolve))
    },
  }
}

const run = Buffer.concat([
  Buffer.alloc(100, 1),
  Buffer.alloc(100, 2),
  Buffer.alloc(100, 3),
  Buffer.alloc(40, 4),
])

function shapes(packets: readonly Buffer[]): [number | undefined, number][] {
  return packets.map((packet) => [packet[0], packet.length])
}

describe('sending a window', () => {
  it('plainly: one datagram a packet, the last one shorter', async () => {
    const { endpoint, received, come } = await connect()
    endpoint.sendRun(run, 100, 240, 100)
    await come(3)
    expect(shapes(received)).toEqual([
      [2, 100],
      [3, 100],
      [4, 40],
    ])
  })

  it('a failed segmented send goes out plainly, and so does all that follows', async () => {
    const { kernel, set } = failingKernel('EIO')
    const { endpoint, received, failures, come } = await connect(kernel)
    endpoint.sendRun(run, 0, run.length, 100)
    await come(4)
    endpoint.sendRun(run, 0, 200, 100)
    await come(6)
    expect(shapes(received)).toEqual([
      [1, 100],
      [2, 100],
      [3, 100],
      [4, 40],
      [1, 100],
      [2, 100],
    ])
    expect(set).toEqual([100, 0])
    expect(failures).toMatchObject([{ code: 'EIO' }])
  })

  it('a client that has gone is no failure of segmentation', async () => {
    const { endpoint, failures, closed } = await connect(failingKernel('ECONNREFUSED').kernel)
    endpoint.sendRun(run, 0, run.length, 100)
    await new Promise((resolve) => setImmediate(resolve))
    expect([closed(), failures]).toEqual([1, []])
  })

  it('closed, it sends nothing and complains about nothing', async () => {
    const { endpoint, received } = await connect(failingKernel('EIO').kernel)
    endpoint.sendRun(run, 0, run.length, 100)
    endpoint.close()
    endpoint.close()
    endpoint.send(Buffer.from('x'))
    endpoint.sendRun(run, 0, run.length, 100)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(received).toEqual([])
  })

  it.skipIf(realKernel === undefined)('by the kernel: the same datagrams', async () => {
    const { endpoint, received, failures, come } = await connect(realKernel)
    endpoint.sendRun(run, 0, run.length, 100)
    await come(4)
    expect(shapes(received)).toEqual([
      [1, 100],
      [2, 100],
      [3, 100],
      [4, 40],
    ])
    expect(failures).toEqual([])
  })
})

it('a range whose ports are in use by others has none free', async () => {
  const taken = await bindSocket()
  open.push(taken)
  const { port } = taken.address()
  const source = createConnectedSource({ localAddress: '127.0.0.1', ports: createPortRange(port, port) })
  const listener = { onPacket() {}, onPortClosed() {}, onSegmentationFailed() {} }
  const peer = { address: '127.0.0.1', port: 9 }
  expect(await source.open(peer, undefined, listener)).toEqual({ kind: 'none', reason: 'no-free-port' })
})

it('an address that is not ours fails with its cause', async () => {
  const source = createConnectedSource({ localAddress: '203.0.113.9', ports: createEphemeralPorts() })
  const listener = { onPacket() {}, onPortClosed() {}, onSegmentationFailed() {} }
  expect(await source.open({ address: '127.0.0.1', port: 9 }, undefined, listener)).toMatchObject({
    kind: 'none',
    reason: 'socket-failed',
    cause: { code: 'EADDRNOTAVAIL' },
  })
})
