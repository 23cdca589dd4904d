import { describe, expect, it } from 'vitest'
import { createTransferTap } from '../../src/capture/transfer-tap.ts'

const blockSize = 1468

function setUp() {
  const kept: string[] = []
  const tap = createTransferTap((isOurs, bytes, start, keptLength, fullLength) => {
    const names = ['', 'RRQ', 'WRQ', 'DATA', 'ACK', 'ERROR', 'OACK']
    const what = names[bytes[start + 1] ?? 0]
    const block = ((bytes[start + 2] ?? 0) << 8) | (bytes[start + 3] ?? 0)
    kept.push(`${isOurs ? '>' : '<'} ${what} ${block} ${keptLength}/${fullLength}`)
  })
  const data = (block: number, length = blockSize) => {
    const packet = new Uint8Array(4 + length)
    packet.set([0, 3, (block >>> 8) & 0xff, block & 0xff])
    return packet
  }
  return {
    tap,
    kept,
    send: (block: number, length?: number) => {
      const packet = data(block, length)
      tap.sent(packet, 0, packet.length, packet.length)
    },
    acknowledge: (block: number) =>
      tap.received(Uint8Array.of(0, 4, (block >>> 8) & 0xff, block & 0xff), 0, 4),
  }
}

describe('what is kept of a transfer', () => {
  it('is the header of DATA alone, with its true length: a script may carry a token', () => {
    const { send, acknowledge, kept } = setUp()
    send(1)
    acknowledge(1)
    expect(kept).toEqual(['> DATA 1 4/1472', '< ACK 1 4/4'])
  })

  it('is everything of a short one, each packet of a window by itself', () => {
    const { tap, kept } = setUp()
    const window = new Uint8Array(3 * 12 + 6)
    for (const [index, at] of [0, 12, 24, 36].entries()) window.set([0, 3, 0, index + 1], at)
    tap.sent(window, 0, window.length, 12)
    expect(kept).toEqual(['> DATA 1 4/12', '> DATA 2 4/12', '> DATA 3 4/12', '> DATA 4 4/6'])
  })

  it('is the beginning, one in 64, and the end of a long one', () => {
    const { tap, send, acknowledge, kept } = setUp()
    const last = 70_000
    for (let block = 1; block <= last; block += 1) {
      send(block & 0xffff, block === last ? 100 : blockSize)
      acknowledge(block & 0xffff)
    }
    tap.end()
    expect(kept.length).toBeLessThan(64 + (2 * last) / 64 + 3)
    expect(kept.slice(0, 4)).toEqual(['> DATA 1 4/1472', '< ACK 1 4/4', '> DATA 2 4/1472', '< ACK 2 4/4'])
    expect(kept.slice(-2)).toEqual([`> DATA ${last & 0xffff} 4/104`, `< ACK ${last & 0xffff} 4/4`])
  })

  it('is the same of windows as of single blocks, but for which of them one in 64 is', () => {
    const { tap, kept } = setUp()
    const blocks = 4_000
    for (let block = 1; block <= blocks; block += 8) {
      const window = new Uint8Array(8 * 1472)
      for (let each = 0; each < 8; each += 1) {
        window.set([0, 3, (block + each) >>> 8, (block + each) & 0xff], each * 1472)
      }
      const isLast = block + 8 > blocks
      tap.sent(window, 0, window.length - (isLast ? 1000 : 0), 1472)
      tap.received(Uint8Array.of(0, 4, (block + 7) >>> 8, (block + 7) & 0xff), 0, 4)
    }
    tap.end()
    const sampled = (blocks + blocks / 8) / 64
    expect(kept.length).toBeGreaterThan(32 + sampled / 2)
    expect(kept.length).toBeLessThan(32 + sampled + 12)
    expect(kept.slice(-2)).toEqual([`> DATA ${blocks} 4/472`, `< ACK ${blocks} 4/4`])
    const numbers = kept.filter((line) => line.includes('DATA')).map((line) => Number(line.split(' ')[2]))
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
  })

  it('is whatever repeats itself: it shows where packets are lost', () => {
    const { send, acknowledge, kept } = setUp()
    for (let block = 1; block <= 100; block += 1) {
      send(block)
      acknowledge(block)
    }
    kept.length = 0
    send(101)
    send(101)
    acknowledge(100)
    send(99)
    expect(kept).toEqual(['> DATA 101 4/1472', '< ACK 100 4/4', '> DATA 99 4/1472'])
  })

  it('is an OACK and an ERROR whole', () => {
    const { tap, kept } = setUp()
    const oack = Uint8Array.from([0, 6, ...Buffer.from('tsize\u00001024\0')])
    const error = Uint8Array.from([0, 5, 0, 8, ...Buffer.from('User aborted the transfer\0')])
    tap.sent(oack, 0, oack.length, oack.length)
    tap.received(error, 0, error.length)
    expect(kept).toEqual([expect.stringMatching(/^> OACK \d+ 13\/13$/), '< ERROR 8 30/30'])
  })
})
