import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DhcpAnswer } from '../../src/dhcp/answer.ts'
import { encodeReply } from '../../src/dhcp/encode-reply.ts'
import type { DhcpOption } from '../../src/dhcp/options.ts'
import { decodePacket } from '../../src/dhcp/packet.ts'
import { createRig, proxySettings, type Rig, serverSettings, shown } from '../dhcp/engine-support.ts'
import { fixture, hex, ip, packetOf, textOf } from '../dhcp/support.ts'
import { createRandom, mutate } from './dhcp-mutations.ts'

/** A bounded number in every run; `npm run soak` for a long one. */
const inputs = process.env.SOAK === undefined ? 20_000 : 1_000_000
const seed = 20_261_129
const corpus = join(import.meta.dirname, '../fixtures/dhcp-fuzz')

function rigs(): readonly Rig[] {
  return [
    createRig(),
    createRig({ settings: { ...proxySettings, style: 'binl' } }),
    createRig({ settings: serverSettings({ isAuthoritative: true }) }),
  ]
}

/** What holds for every answer, whatever was asked. */
function check(answer: DhcpAnswer, input: Uint8Array, isProxy: boolean): void {
  if (answer.kind === 'silent') return
  const reply = shown(answer)
  const request = packetOf(input)
  const { packet } = reply
  if (packet.op !== 2 || packet.xid !== request.xid || packet.hops !== 0) throw new Error('header')
  if (!Buffer.from(packet.chaddr).equals(Buffer.from(request.chaddr))) throw new Error('chaddr')
  if (packet.bytes.length < 300 || packet.bytes.length > 1472) throw new Error(`size ${packet.bytes.length}`)
  if (![2, 5, 6].includes(reply.type ?? 0)) throw new Error(`type ${reply.type}`)
  if (isProxy && (reply.type === 6 || reply.yiaddr !== '0.0.0.0'))
    throw new Error('a proxy gave or refused an address')
  if (
    !isProxy &&
    request.giaddr !== 0 &&
    answer.destination.address !== request.giaddr &&
    reply.yiaddr !== '0.0.0.0'
  )
    throw new Error('not to the relay')
  if (reply.options[54] !== 'c0 00 02 0a') throw new Error('server identifier')
  if (/[^\x20-\x7e]/.test(reply.file)) throw new Error('file name')
  const relay = request.options.find(({ code }) => code === 82)?.data
  // Overloaded fields are read after the options field, at whose end it is.
  const isOverloaded = reply.options[52] !== undefined
  if (relay && !isOverloaded && reply.order.at(-1) !== 82) throw new Error('option 82 is not last')
}

function handleAll(all: readonly Rig[], input: Uint8Array): void {
  for (const [index, rig] of all.entries()) {
    check(rig.send(Uint8Array.from(input)), input, index < 2)
    const onProxyPort = rig.send(Uint8Array.from(input), {
      port: 'proxy',
      from: '192.0.2.55',
      fromPort: 4011,
    })
    check(onProxyPort, input, true)
    rig.events.events.length = 0
    rig.changes.length = 0
    rig.asked.length = 0
  }
}

describe('any datagram', () => {
  it(`of ${inputs} mutated packets is answered rightly or left alone, and the next machine is served`, {
    timeout: 3_600_000,
  }, () => {
    const random = createRandom(seed)
    const all = rigs()
    let answered = 0
    for (let number = 0; number < inputs; number++) {
      const input = mutate(random)
      try {
        handleAll(all, input)
      } catch (error) {
        throw new Error(`input ${number} of seed ${seed}: ${Buffer.from(input).toString('hex')}`, {
          cause: error,
        })
      }
      if (decodePacket(input).packet) answered++
      for (const rig of all) rig.clock.advance(random(3000))
    }
    // Mutations that only ever broke packets would test the first check alone.
    expect(answered).toBeGreaterThan(inputs / 4)
    for (const rig of all) expect(shown(rig.send(fixture('edk2-pxe-x64-discover'))).file).toBe('snponly.efi')
  })

  it('of random bytes is refused or read, never thrown at', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1600 }), (bytes) => {
        const result = decodePacket(bytes)
        expect('refused' in result || result.packet !== undefined).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  const saved = readdirSync(corpus).filter((name) => name.endsWith('.hex'))
  it.each(saved)('saved input %s', (name) => {
    handleAll(rigs(), hex(readFileSync(join(corpus, name), 'utf8')))
  })
})

describe('any reply', () => {
  const optionOf = (code: number) =>
    fc.uint8Array({ maxLength: 300 }).map((data): DhcpOption => ({ code, data: Uint8Array.from(data) }))
  const options = fc
    .uniqueArray(fc.constantFrom(1, 3, 6, 12, 15, 43, 60, 66, 97, 121, 224, 254), { maxLength: 8 })
    .chain((codes) => fc.tuple(...codes.map(optionOf)))
  const bootFile = fc
    .array(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789/.-:'), { maxLength: 300 })
    .map((characters) => characters.join(''))

  it('reads as it was written, or was refused as too long', () => {
    fc.assert(
      fc.property(
        options,
        bootFile,
        fc.option(fc.uint8Array({ minLength: 1, maxLength: 255 }), { nil: undefined }),
        fc.boolean(),
        fc.integer({ min: 548, max: 1472 }),
        (written, file, relay, isPadded, maxSizeBytes) => {
          const encoded = encodeReply({
            htype: 1,
            xid: 7,
            flags: 0,
            ciaddr: ip('0.0.0.0'),
            yiaddr: ip('192.0.2.55'),
            siaddr: ip('192.0.2.10'),
            giaddr: ip('0.0.0.0'),
            chaddr: hex('525400abcdef'),
            serverName: '192.0.2.10',
            bootFile: file,
            options: written,
            relayAgentInformation: relay,
            maxSizeBytes,
            isPaddedAfterBootFile: isPadded,
          })
          if (!encoded.bytes) return
          expect(encoded.bytes.length).toBeLessThanOrEqual(maxSizeBytes)
          const packet = packetOf(encoded.bytes)
          const read = new Map(
            packet.options.map(({ code, data }) => [code, Buffer.from(data).toString('hex')]),
          )
          for (const { code, data } of written) expect(read.get(code)).toBe(Buffer.from(data).toString('hex'))
          expect(read.get(67)).toBe(file === '' ? undefined : Buffer.from(file).toString('hex'))
          expect(read.get(82)).toBe(relay === undefined ? undefined : Buffer.from(relay).toString('hex'))
          if (!packet.isFileOverloaded) {
            const inHeader = file.length <= 127 ? file : ''
            expect(textOf(encoded.bytes.subarray(108, 236))).toBe(inHeader)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
