import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  macOfOwner,
  ownerOfMac,
  ownerOfMacBytes,
  type PacketOwner,
} from '../../src/capture/captured-packet.ts'
import { blockBytes, createPacketRing, mostBlocksOfOwner } from '../../src/capture/packet-ring.ts'
import { mac } from '../dhcp/support.ts'

const host = (index: number) => (0x525400000000 + index) as PacketOwner
const stranger = (index: number) => (0x020000000000 + index) as PacketOwner
const isHost = (owner: PacketOwner) => owner >= 0x525400000000

function setUp(blocks: number, isKnown = isHost) {
  const ring = createPacketRing({ memoryBytes: blocks * blockBytes, isKnown })
  let at = 0
  const add = (owner: PacketOwner, length = 600, keptLength = length) => {
    at += 1
    const bytes = new Uint8Array(length).fill(at & 0xff)
    ring.add(owner, at, at % 2 === 0, 0xc000020a, 67, 0xc0000237, 68, bytes, 0, keptLength, length)
    return at
  }
  const timesOf = (owner: PacketOwner) => ring.packetsOf(owner).packets.map((packet) => packet.at)
  return { ring, add, timesOf }
}

describe('the packets of one machine', () => {
  it('come back as they were, oldest first', () => {
    const { ring, add } = setUp(4)
    add(host(1), 5)
    add(host(1), 1000, 4)
    expect(ring.packetsOf(host(1))).toEqual({
      dropped: 0,
      packets: [
        {
          at: 1,
          isOurs: false,
          local: 0xc000020a,
          localPort: 67,
          peer: 0xc0000237,
          peerPort: 68,
          bytes: new Uint8Array(5).fill(1),
          fullLength: 5,
        },
        expect.objectContaining({ at: 2, isOurs: true, bytes: new Uint8Array(4).fill(2), fullLength: 1000 }),
      ],
    })
  })

  it('have a bound of their own, and what made room is counted', () => {
    const { ring, add, timesOf } = setUp(100)
    for (let count = 0; count < 200; count += 1) add(host(1))
    const perBlock = Math.floor(blockBytes / 626)
    expect(timesOf(host(1))).toHaveLength(mostBlocksOfOwner * perBlock - 1)
    expect(timesOf(host(1)).at(-1)).toBe(200)
    const { packets, dropped } = ring.packetsOf(host(1))
    expect(packets.length + dropped).toBe(200)
  })

  it('are cut where they are longer than a block', () => {
    const { ring, add } = setUp(4)
    add(host(1), 65_535)
    const [packet] = ring.packetsOf(host(1)).packets
    expect([packet?.bytes.length, packet?.fullLength]).toEqual([blockBytes - 26, 65_535])
  })

  it('of nobody are none', () => {
    expect(setUp(4).ring.packetsOf(host(9))).toEqual({ packets: [], dropped: 0 })
  })
})

describe('where memory is full', () => {
  it('who was silent for longest goes first', () => {
    const { add, timesOf } = setUp(4)
    for (const index of [1, 2, 3, 4]) add(host(index))
    add(host(1))
    add(host(5))
    expect([1, 2, 3, 4, 5].map((index) => timesOf(host(index)).length)).toEqual([2, 0, 1, 1, 1])
  })

  it('made-up machines push out each other, and leave our hosts theirs', () => {
    const { add, timesOf } = setUp(64)
    for (let index = 0; index < 40; index += 1) add(host(index))
    for (let index = 0; index < 10_000; index += 1) add(stranger(index))
    const hosts = Array.from({ length: 40 }, (_, index) => timesOf(host(index)).length)
    expect(hosts).toEqual(Array(40).fill(1))
    expect(timesOf(stranger(9_999))).toHaveLength(1)
  })

  it('hosts that fill it leave strangers a quarter, and take no more of it', () => {
    const { add, timesOf } = setUp(16)
    for (let index = 0; index < 16; index += 1) add(host(index))
    for (let index = 0; index < 100; index += 1) add(stranger(index))
    const left = () => Array.from({ length: 16 }, (_, index) => timesOf(host(index)).length)
    expect(left().filter((count) => count > 0)).toHaveLength(11)
    for (let index = 0; index < 16; index += 1) add(host(index))
    expect(left().filter((count) => count > 0)).toHaveLength(12)
    expect(timesOf(stranger(99))).toHaveLength(1)
  })

  it('a machine that becomes a host while it boots is kept as one', () => {
    const adopted = new Set<PacketOwner>()
    const { add, timesOf } = setUp(16, (owner) => adopted.has(owner))
    add(stranger(1))
    adopted.add(stranger(1))
    for (let count = 0; count < 3; count += 1) add(stranger(1))
    for (let index = 100; index < 500; index += 1) add(stranger(index))
    expect(timesOf(stranger(1))).toHaveLength(4)
  })

  it('nothing is lost or mixed up, whoever sends how much', () => {
    const sends = fc.array(
      fc.record({ who: fc.nat(30), isHost: fc.boolean(), length: fc.integer({ min: 0, max: 3000 }) }),
      { maxLength: 400 },
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), sends, (blocks, all) => {
        const { ring } = setUp(blocks)
        const sent = new Map<PacketOwner, number[]>()
        all.forEach(({ who, isHost: known, length }, at) => {
          const owner = known ? host(who) : stranger(who)
          sent.set(owner, [...(sent.get(owner) ?? []), at])
          ring.add(owner, at, true, 1, 2, 3, 4, new Uint8Array(length).fill(who), 0, length, length)
        })
        let bytes = 0
        for (const [owner, times] of sent) {
          const { packets } = ring.packetsOf(owner)
          const kept = packets.map((packet) => packet.at)
          expect(kept).toEqual(kept.length === 0 ? [] : times.slice(-kept.length))
          for (const packet of packets) {
            bytes += packet.bytes.length
            expect(packet.bytes.every((byte) => byte === owner % 256)).toBe(true)
          }
        }
        expect(bytes).toBeLessThanOrEqual(blocks * blockBytes)
        const last = all.at(-1)
        const lastOwner = last && (last.isHost ? host(last.who) : stranger(last.who))
        if (lastOwner !== undefined) expect(ring.packetsOf(lastOwner).packets.at(-1)?.at).toBe(all.length - 1)
      }),
      { numRuns: 200 },
    )
  })
})

it('a MAC is the same owner as text and as bytes, and comes back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (bytes) => {
      const text = Buffer.from(bytes)
        .toString('hex')
        .replace(/..(?=.)/g, '$&:')
      expect(macOfOwner(ownerOfMacBytes(bytes, 0))).toBe(text)
    }),
  )
  const machine = mac('52:54:00:ab:cd:ef')
  expect(macOfOwner(ownerOfMac(machine))).toBe(machine)
})
