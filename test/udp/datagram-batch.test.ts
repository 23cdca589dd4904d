import { describe, expect, it } from 'vitest'
import { createDatagramBatch, type KernelCalls, type OutgoingRun } from '../../src/udp/datagram-batch.ts'
import { peerName } from '../../src/udp/peer-name.ts'

/** A kernel that finds Buffers by the addresses that it gave out, and reads and writes the structures as Linux does. */
function fakeKernel() {
  const memory: { at: number; bytes: Buffer }[] = []
  let next = 0x7f00_0000_1000
  const sent: { fd: number; to: string; bytes: Buffer; segmentBytes: number }[] = []
  const waiting: { from: string; bytes: Buffer }[] = []
  /** How many messages the next call takes; then it fails with this errno. */
  const refusals: { takes: number; errno: number }[] = []
  let errno = 0

  function find(address: number, length: number): Buffer {
    const found = memory.find(({ at, bytes }) => at <= address && address + length <= at + bytes.length)
    if (found === undefined) throw new Error(`segmentation fault at ${address}`)
    return found.bytes.subarray(address - found.at, address - found.at + length)
  }
  const pointer = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at))

  function message(headers: Buffer, slot: number) {
    const header = headers.subarray(slot * 64, slot * 64 + 64)
    const name = find(pointer(header, 0), header.readUInt32LE(8))
    expect(pointer(header, 24)).toBe(1)
    const vector = find(pointer(header, 16), 16)
    return { header, name, data: find(pointer(vector, 0), pointer(vector, 8)) }
  }

  const calls: KernelCalls = {
    addressOf(bytes) {
      const at = next
      next += bytes.length + 4096 - (bytes.length % 4096)
      memory.push({ at, bytes })
      return at
    },
    receive(_, headers, count) {
      const taken = waiting.splice(0, count)
      for (const [slot, { from, bytes }] of taken.entries()) {
        const { header, name, data } = message(headers, slot)
        Buffer.from(from, 'hex').copy(name)
        bytes.copy(data)
        header.writeUInt32LE(Math.min(bytes.length, data.length), 56)
      }
      return taken.length === 0 ? -1 : taken.length
    },
    send(fd, headers, count) {
      const refusal = refusals[0]
      if (refusal?.takes === 0) {
        refusals.shift()
        errno = refusal.errno
        return -1
      }
      const takes = Math.min(count, refusal?.takes ?? count)
      if (refusal !== undefined) refusal.takes -= takes
      for (let slot = 0; slot < takes; slot += 1) {
        const { header, name, data } = message(headers, slot)
        const control = header.readUInt32LE(40) === 0 ? undefined : find(pointer(header, 32), 24)
        if (control !== undefined) {
          expect([pointer(control, 0), control.readUInt32LE(8), control.readUInt32LE(12)]).toEqual([
            18, 17, 103,
          ])
        }
        sent.push({
          fd,
          to: name.toString('hex'),
          bytes: Buffer.from(data),
          segmentBytes: control?.readUInt16LE(16) ?? 0,
        })
      }
      return takes
    },
    errno: () => errno,
  }
  return { calls, sent, waiting, refusals }
}

const to = peerName('192.0.2.55', 1025)
if (to === undefined) throw new Error('an IPv4 address expected')

function run(
  bytes: Buffer,
  offset: number,
  length: number,
  segmentBytes = 0,
): OutgoingRun & { unsent: number[] } {
  const unsent: number[] = []
  return {
    bytes,
    offset,
    length,
    segmentBytes,
    to: to as never,
    unsent,
    onUnsent: (_, errno) => unsent.push(errno),
  }
}

describe('many datagrams in one call', () => {
  it('runs go out in order, with their peer and what to cut them into', () => {
    const { calls, sent } = fakeKernel()
    const batch = createDatagramBatch(calls)
    const bytes = Buffer.from('aaaabbbbccccdd')
    batch.push(7, run(bytes, 4, 8, 4))
    batch.push(7, run(bytes, 12, 2))
    batch.push(7, run(bytes, 0, 12, 4))
    expect(sent).toEqual([])
    batch.flush()
    const name = '02000401c00002370000000000000000'
    expect(sent).toEqual([
      { fd: 7, to: name, bytes: Buffer.from('bbbbcccc'), segmentBytes: 4 },
      { fd: 7, to: name, bytes: Buffer.from('dd'), segmentBytes: 0 },
      { fd: 7, to: name, bytes: Buffer.from('aaaabbbbcccc'), segmentBytes: 4 },
    ])
    batch.flush()
    expect(sent).toHaveLength(3)
  })

  it('long runs go out from where they lie, short ones from a copy', () => {
    const { calls, sent } = fakeKernel()
    let asked = 0
    const batch = createDatagramBatch({
      ...calls,
      addressOf(bytes) {
        asked += 1
        return calls.addressOf(bytes)
      },
    })
    const before = asked
    const long = Buffer.alloc(5000, 1)
    const short = Buffer.alloc(1024, 2)
    for (let times = 0; times < 3; times += 1) {
      batch.push(7, run(long, 100, 1025))
      batch.push(7, run(short, 0, 1024))
    }
    short.fill(9)
    batch.flush()
    expect(sent.map(({ bytes }) => [bytes[0], bytes.length])).toEqual(
      Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? [1, 1025] : [2, 1024])),
    )
    expect(asked - before).toBe(1)
  })

  it('more than there are slots, and another socket, go out before', () => {
    const { calls, sent } = fakeKernel()
    const batch = createDatagramBatch(calls)
    const bytes = Buffer.from('abcdefgh')
    for (let at = 0; at < 65; at += 1) batch.push(7, run(bytes, at % 8, 1))
    expect(sent).toHaveLength(64)
    batch.push(8, run(bytes, 0, 1))
    expect(sent).toHaveLength(65)
    batch.flush()
    expect(sent.map(({ fd }) => fd).slice(-2)).toEqual([7, 8])
  })

  it('what the kernel does not take is told, and the rest goes out', () => {
    const { calls, sent, refusals } = fakeKernel()
    const batch = createDatagramBatch(calls)
    refusals.push({ takes: 1, errno: 5 }, { takes: 1, errno: 11 })
    const bytes = Buffer.from('abcdef')
    const runs = [0, 1, 2, 3, 4].map((at) => run(bytes, at, 1))
    for (const one of runs) batch.push(7, one)
    batch.flush()
    expect(sent.map((one) => one.bytes.toString())).toEqual(['a', 'c', 'e'])
    expect(runs.map(({ unsent }) => unsent)).toEqual([[], [5], [], [11], []])
  })

  it('what waits is visited with its sender, call after call', () => {
    const { calls, waiting } = fakeKernel()
    const batch = createDatagramBatch(calls)
    for (let at = 0; at < 100; at += 1) {
      waiting.push({ from: '02000401c0000237', bytes: Buffer.from([0, 4, 0, at]) })
    }
    const seen: number[] = []
    batch.receive(7, 1000, ({ ring, start, length, key }) => {
      expect([length, key]).toEqual([4, 0xc0000237 * 65536 + 1025])
      seen.push(ring[start + 3] ?? -1)
      return true
    })
    expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => at))
  })

  it('a turn ends at its bound or when a visit ends it, and loses nothing unread but what it took', () => {
    const { calls, waiting } = fakeKernel()
    const batch = createDatagramBatch(calls)
    for (let at = 0; at < 200; at += 1) waiting.push({ from: '02000401c0000237', bytes: Buffer.alloc(4) })
    batch.receive(7, 64, () => true)
    expect(waiting).toHaveLength(136)
    batch.receive(7, 64, () => false)
    expect(waiting).toHaveLength(72)
  })

  it('a datagram longer than a slot is cut, not written over its neighbour', () => {
    const { calls, waiting } = fakeKernel()
    const batch = createDatagramBatch(calls)
    waiting.push({ from: '02000401c0000237', bytes: Buffer.alloc(9000, 0xaa) })
    waiting.push({ from: '02000402c0000237', bytes: Buffer.from([0, 4, 0, 1]) })
    const lengths: number[] = []
    batch.receive(7, 64, ({ ring, start, length }) => {
      lengths.push(length)
      if (length === 4) expect(ring.subarray(start, start + 4)).toEqual(Buffer.from([0, 4, 0, 1]))
      return true
    })
    expect(lengths).toEqual([4112, 4])
  })
})
