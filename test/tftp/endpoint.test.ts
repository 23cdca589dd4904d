import type { Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { openConnectedEndpoint, type TransferEndpoint } from '../../src/tftp/endpoint.ts'
import { loadUdpGso, type UdpGso } from '../../src/tftp/udp-gso.ts'
import { bindSocket } from '../fakes/tftp-client.ts'

const realGso = await loadUdpGso()
if (realGso === undefined) console.log('koffi is not installed: real kernel segmentation is not tried here')

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** Lets whole windows fail as a kernel does that cannot segment on this path (EIO with IPsec, for one). */
function failingGso(code: string) {
  const set: number[] = []
  const plainSends = new WeakMap<Socket, Socket['send']>()
  const gso: UdpGso = {
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
  return { gso, set }
}

async function connect(gso?: UdpGso) {
  const peer = await bindSocket()
  open.push(peer)
  const received: Buffer[] = []
  peer.on('message', (bytes) => received.push(Buffer.from(bytes)))
  const failures: unknown[] = []
  let closed = 0
  const result = await openConnectedEndpoint({
    localAddress: '127.0.0.1',
    localPort: 0,
    peerAddress: '127.0.0.1',
    peerPort: peer.address().port,
    ...(gso === undefined ? {} : { segmentation: { gso, stride: 100 } }),
    onMessage() {},
    onPortClosed() {
      closed += 1
    },
    onSegmentationFailed: (cause) => failures.push(cause),
  })
  if (result.kind === 'failed') throw result.cause
  open.push(result.endpoint)
  return {
    endpoint: result.endpoint as TransferEndpoint,
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
    const { gso, set } = failingGso('EIO')
    const { endpoint, received, failures, come } = await connect(gso)
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
    const { endpoint, failures, closed } = await connect(failingGso('ECONNREFUSED').gso)
    endpoint.sendRun(run, 0, run.length, 100)
    await new Promise((resolve) => setImmediate(resolve))
    expect([closed(), failures]).toEqual([1, []])
  })

  it('closed, it sends nothing and complains about nothing', async () => {
    const { endpoint, received } = await connect(failingGso('EIO').gso)
    endpoint.sendRun(run, 0, run.length, 100)
    endpoint.close()
    endpoint.close()
    endpoint.send(Buffer.from('x'))
    endpoint.sendRun(run, 0, run.length, 100)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(received).toEqual([])
  })

  it.skipIf(realGso === undefined)('by the kernel: the same datagrams', async () => {
    const { endpoint, received, failures, come } = await connect(realGso)
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

it('a local port that is taken is a failure with its code', async () => {
  const taken = await bindSocket()
  open.push(taken)
  const result = await openConnectedEndpoint({
    localAddress: '127.0.0.1',
    localPort: taken.address().port,
    peerAddress: '127.0.0.1',
    peerPort: 9,
    onMessage() {},
    onPortClosed() {},
    onSegmentationFailed() {},
  })
  expect(result).toMatchObject({ kind: 'failed', code: 'EADDRINUSE' })
})
