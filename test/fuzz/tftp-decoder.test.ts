import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayName, parseFileName } from '../../src/tftp/file-name.ts'
import { negotiate } from '../../src/tftp/negotiate.ts'
import { encodeOack, parsePacket, refusalAnswers } from '../../src/tftp/packet.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'
import {
  advanceTransfer,
  openTransfer,
  type TransferEvent,
  type TransferPlan,
} from '../../src/tftp/transfer.ts'
import { mutatedDatagram, seededRandom, tftpCorpus } from './tftp-corpus.ts'

const inputs = process.env.SOAK === undefined ? 30_000 : 1_000_000

/** What must hold for any datagram; throws when it does not. */
function examine(bytes: Buffer): string {
  const packet = parsePacket(bytes)
  if (packet.kind === 'refused') {
    if (!(packet.reason in refusalAnswers)) throw new Error(`no answer for ${packet.reason}`)
    return packet.kind
  }
  if (packet.kind === 'error' && !/^[\x20-\x7e]{0,128}$/.test(packet.message))
    throw new Error('unsafe message')
  if (packet.kind !== 'read') return packet.kind
  if (packet.options.length > 16) throw new Error('too many options')
  if (!/^[\x20-\x7e…]{0,128}$/.test(displayName(packet.rawName))) throw new Error('unsafe display')
  const { acknowledged, blockSize, windowSize } = negotiate(packet.options, 1_048_576, {
    maxBlockSize: 1468,
    maxWindowSize: 64,
  })
  if (blockSize < 8 || blockSize > 1468 || windowSize < 1 || windowSize > 64) throw new Error('out of bounds')
  if (acknowledged.length > 4 || encodeOack(acknowledged).length > 70) throw new Error('long acknowledgement')
  const name = parseFileName(packet.rawName)
  if (name.kind === 'refused') return name.reason
  const parts = name.path.split('/')
  if (name.path.length > 512 || !/^[\x20-\x7e]+$/.test(name.path)) throw new Error(`unsafe path ${name.path}`)
  if (parts.some((part) => part === '' || /^\.+$/.test(part))) throw new Error(`climbing path ${name.path}`)
  return classifyName(name.path).kind
}

describe('any datagram', () => {
  it.each(tftpCorpus)('$name of the corpus', ({ bytes }) => {
    expect(() => examine(bytes)).not.toThrow()
  })

  it(`${inputs} mutations of the corpus are read or refused, never thrown at`, { timeout: 300_000 }, () => {
    const random = seededRandom(20_261_129)
    const kinds = new Map<string, number>()
    const startedAt = performance.now()
    for (let count = 0; count < inputs; count += 1) {
      const bytes = mutatedDatagram(random)
      try {
        const kind = examine(bytes)
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      } catch (cause) {
        throw new Error(`datagram ${bytes.toString('hex')}`, { cause })
      }
    }
    if (process.env.SOAK !== undefined) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      console.log(`tftp decoder: ${inputs} inputs in ${seconds} s`, Object.fromEntries(kinds))
    }
    // The mutations reach every part of the decoder.
    for (const kind of [
      'refused',
      'ack',
      'error',
      'write',
      'data',
      'oack',
      'name-climbs',
      'name-empty',
      'file',
    ]) {
      expect(kinds.get(kind)).toBeGreaterThan(0)
    }
  })

  it('bytes of no kind at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (array) => {
        examine(Buffer.from(array))
      }),
    )
  })

  it('names of no kind at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.string({ maxLength: 40 }), (array, text) => {
        for (const name of [Buffer.from(array), Buffer.from(text), Buffer.from(`grub.cfg-${text}`)]) {
          examine(Buffer.concat([Buffer.from([0, 1]), name, Buffer.from('\0octet\0')]))
        }
      }),
    )
  })
})

describe('any course of a transfer', () => {
  const event: fc.Arbitrary<TransferEvent> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.integer({ min: 0, max: 70 }).map((block) => ({ type: 'ack' as const, block })),
    },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 0, max: 65535 }).map((block) => ({ type: 'ack' as const, block })),
    },
    { weight: 3, arbitrary: fc.constant({ type: 'timeout' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'request-repeated' as const }) },
  )
  const plan: fc.Arbitrary<TransferPlan> = fc.record({
    blockCount: fc.integer({ min: 1, max: 60 }),
    windowSize: fc.integer({ min: 1, max: 64 }),
    hasOack: fc.boolean(),
    wrap: fc.constantFrom(0, 1),
  })

  it('never sends what is not there or more than a window, and silence ends it', () => {
    fc.assert(
      fc.property(plan, fc.array(event, { maxLength: 60 }), (planned, events) => {
        // Without an OACK there is no window.
        const full = planned.hasOack ? planned : { ...planned, windowSize: 1 }
        let now = 0
        let step = openTransfer(full, now)
        let waitMs = step.waitMs ?? 0
        const silence = Array.from({ length: 40 }, (): TransferEvent => ({ type: 'timeout' }))
        for (const next of [...events, ...silence]) {
          const before = step.state
          now += next.type === 'timeout' ? waitMs : 3
          step = advanceTransfer(full, before, next, now)
          const { action, state } = step
          waitMs = step.waitMs ?? waitMs
          expect(state.acknowledged).toBeGreaterThanOrEqual(before.acknowledged)
          expect(state.acknowledged).toBeLessThanOrEqual(full.blockCount)
          expect(waitMs).toBeGreaterThanOrEqual(0)
          expect(waitMs).toBeLessThanOrEqual(10_000)
          if (action.type !== 'send-blocks') continue
          expect(action.first).toBeGreaterThan(state.acknowledged)
          expect(action.first + action.count - 1).toBeLessThanOrEqual(full.blockCount)
          expect(action.count).toBeGreaterThan(0)
          expect(action.first + action.count - 1 - state.acknowledged).toBeLessThanOrEqual(full.windowSize)
        }
        expect(step.state.phase).toBe('ended')
      }),
      { numRuns: 300 },
    )
  })
})
