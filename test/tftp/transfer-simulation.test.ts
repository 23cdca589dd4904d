import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockWrap, wireBlock } from '../../src/tftp/block-number.ts'
import {
  advanceTransfer,
  openTransfer,
  type TransferPlan,
  type TransferStep,
} from '../../src/tftp/transfer.ts'

/**
 * A network in which every packet may be lost, doubled or delayed, and a client of RFC 7440 behind it: it takes blocks in
 * order, acknowledges a full window, its end, the block before a gap, and its last block when that comes again, and
 * repeats itself after a second of silence.
 */
interface Weather {
  readonly loss: number
  readonly doubling: number
  readonly maxDelayMs: number
  /** The client acknowledges every packet that it did not expect. */
  readonly isTalkative?: boolean
}

interface Packet {
  readonly at: number
  readonly to: 'client' | 'server'
  /** To the client: the block, counted without end, or 0 for the OACK. To the server: the number on the wire. */
  readonly block: number
}

function simulate(plan: TransferPlan, weather: Weather, random: () => number) {
  const clientRepeatMs = 1_000
  let now = 0
  let packets: Packet[] = []
  let sentBlocks = 0
  let step: TransferStep = openTransfer(plan, now)
  let deadline = now + (step.waitMs ?? 0)
  let expected = plan.hasOack ? 0 : 1
  let inWindow = 0
  let isGap = false
  let lastAck: number | undefined
  let clientRepeatsAt = clientRepeatMs
  const received: number[] = []

  function put(to: Packet['to'], block: number): void {
    const copies = random() < weather.doubling ? 2 : 1
    for (let copy = 0; copy < copies; copy += 1) {
      if (random() < weather.loss) continue
      packets.push({ at: now + 1 + Math.floor(random() * weather.maxDelayMs), to, block })
    }
  }

  function perform(): void {
    const { action, waitMs } = step
    if (waitMs !== undefined) deadline = now + waitMs
    if (action.type === 'send-oack') put('client', 0)
    if (action.type !== 'send-blocks') return
    sentBlocks += action.count
    for (let at = 0; at < action.count; at += 1) put('client', action.first + at)
  }

  function acknowledge(block: number): void {
    lastAck = block
    inWindow = 0
    clientRepeatsAt = now + clientRepeatMs
    put('server', wireBlock(block, plan.wrap))
  }

  function clientReceives(block: number): void {
    if (block !== expected) {
      if (block > expected && !isGap) {
        isGap = true
        acknowledge(expected - 1)
      }
      // What it has already: EDK2 says so each time, others only where a whole window came again.
      if (block < expected && (weather.isTalkative || (block === expected - 1 && inWindow === 0))) {
        acknowledge(expected - 1)
      }
      return
    }
    isGap = false
    if (block > 0) received.push(block)
    expected += 1
    inWindow += block === 0 ? 0 : 1
    if (block === 0 || inWindow === plan.windowSize || block === plan.blockCount) acknowledge(block)
  }

  perform()
  for (let turns = 0; step.state.phase !== 'ended' && turns < 200_000; turns += 1) {
    packets.sort((a, b) => a.at - b.at)
    const next = packets[0]?.at ?? Number.POSITIVE_INFINITY
    now = Math.min(next, deadline, clientRepeatsAt)
    if (now === next) {
      const [packet] = packets.splice(0, 1)
      if (packet?.to === 'client') clientReceives(packet.block)
      else if (packet !== undefined) {
        step = advanceTransfer(plan, step.state, { type: 'ack', block: packet.block }, now)
        perform()
      }
    } else if (now === deadline) {
      step = advanceTransfer(plan, step.state, { type: 'timeout' }, now)
      perform()
    } else {
      clientRepeatsAt = now + clientRepeatMs
      isGap = false
      if (lastAck !== undefined) acknowledge(lastAck < expected - 1 ? expected - 1 : lastAck)
      // A request that got no answer comes again.
      else if (step.state.phase === 'opening') {
        step = advanceTransfer(plan, step.state, { type: 'request-repeated' }, now)
        perform()
      }
    }
  }
  packets = []
  return { received, sentBlocks, state: step.state, action: step.action, elapsedMs: now }
}

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const plans = fc.record({
  blockCount: fc.integer({ min: 1, max: 300 }),
  windowSize: fc.integer({ min: 1, max: 64 }),
  wrap: fc.constantFrom<BlockWrap>(0, 1),
})

describe('a transfer over a bad network', () => {
  it('loses, doubles and reorders packets: every block arrives once, in order', () => {
    fc.assert(
      fc.property(
        plans,
        fc.record({
          loss: fc.double({ min: 0, max: 0.1, noNaN: true }),
          doubling: fc.double({ min: 0, max: 0.3, noNaN: true }),
          maxDelayMs: fc.integer({ min: 0, max: 30 }),
          isTalkative: fc.boolean(),
        }),
        fc.nat(),
        (planned, weather, seed) => {
          const plan: TransferPlan = { ...planned, hasOack: true }
          const { received, action } = simulate(plan, weather, seeded(seed))
          expect(received).toEqual(Array.from({ length: plan.blockCount }, (_, at) => at + 1))
          expect(action.type === 'end' && action.outcome).toMatch(/^served/)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('every packet doubled and nothing lost: no block is sent twice', () => {
    fc.assert(
      fc.property(plans, fc.nat(), (planned, seed) => {
        const plan: TransferPlan = { ...planned, hasOack: true }
        const { sentBlocks, state } = simulate(plan, { loss: 0, doubling: 1, maxDelayMs: 0 }, seeded(seed))
        expect(sentBlocks).toBe(plan.blockCount)
        expect(state.repeatedBlocks).toBe(0)
      }),
      { numRuns: 100 },
    )
  })

  it.each([2, 4, 8, 16])(
    'a block in a thousand doubled, a client that answers each copy: not everything is sent twice (window %i)',
    (windowSize) => {
      const plan: TransferPlan = { blockCount: 5_000, windowSize, hasOack: true, wrap: 0 }
      const weather = { loss: 0, doubling: 0.001, maxDelayMs: 0, isTalkative: true }
      const { sentBlocks, received } = simulate(plan, weather, seeded(3))
      expect(received.length).toBe(5_000)
      expect(sentBlocks).toBeLessThan(5_150)
    },
  )

  it('the wrap is crossed with losses, in windows of sixteen and alone', () => {
    for (const windowSize of [1, 16]) {
      const plan: TransferPlan = { blockCount: 66_000, windowSize, hasOack: true, wrap: 0 }
      const { received } = simulate(plan, { loss: 0.002, doubling: 0, maxDelayMs: 0 }, seeded(7))
      expect(received.length).toBe(66_000)
      expect(received.at(-1)).toBe(66_000)
    }
  })

  it('one in a hundred lost each way costs a second, not a minute (1 MB at 1468 bytes)', () => {
    const plan: TransferPlan = { blockCount: 715, windowSize: 4, hasOack: true, wrap: 0 }
    const times = [1, 2, 3, 4, 5].map(
      (seed) => simulate(plan, { loss: 0.01, doubling: 0, maxDelayMs: 0 }, seeded(seed)).elapsedMs,
    )
    expect(Math.max(...times)).toBeLessThan(3_000)
  })

  it('nobody there: ten seconds, then it is over', () => {
    const plan: TransferPlan = { blockCount: 10, windowSize: 4, hasOack: true, wrap: 0 }
    const { state, elapsedMs } = simulate(plan, { loss: 1, doubling: 0, maxDelayMs: 0 }, seeded(1))
    expect(state.phase).toBe('ended')
    expect(elapsedMs).toBeLessThanOrEqual(11_000)
  })
})
