import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDecisionMemory } from '../../src/boot/decision-memory.ts'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Inventory } from '../../src/core/host.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { mac, makeClient, makeGroup, makeHost, makeInventory, makeProfile, uuid } from '../fakes/machines.ts'

const older = makeCatalog({ current: makeBootimage({ release: '43.20260601.3.0' }) })
const newer = makeCatalog({ current: makeBootimage({ release: '44.20260707.3.1' }) })
const live = { stream: 'fcos-stable', mode: 'live' } as const
const inventory = makeInventory({ hosts: [makeHost(live)] })
const view = { catalog: newer, inventory, now: 1000 }

describe('what is remembered', () => {
  it('is the decision itself, for everybody who says the same', () => {
    const memory = createDecisionMemory()
    const first = memory.decide(makeClient(), view)
    expect(first).toEqual(decideBoot(makeClient(), view))
    expect(memory.decide(makeClient(), { ...view, now: 2000 })).toBe(first)
  })

  it.each<[keyof BootClient, Partial<BootClient>]>([
    ['macs', { macs: [mac('52:54:00:00:00:99')] }],
    ['uuid', { uuid: uuid('4c4c4544-0042-4a10-8052-b4c04f4b3132') }],
    ['serial', { serial: 'A b' }],
    ['arch', { arch: 'aarch64' }],
    ['firmware', { firmware: 'bios' }],
    ['loader', { loader: 'grub' }],
    ['address', { address: '192.0.2.9' }],
  ])('is not given to a client with another %s', (_, said) => {
    const memory = createDecisionMemory()
    const first = memory.decide(makeClient(), view)
    expect(memory.decide(makeClient(said), view)).not.toBe(first)
  })

  it('is forgotten beyond the bound', () => {
    const memory = createDecisionMemory({ maximum: 2 })
    const first = memory.decide(makeClient(), view)
    for (const serial of ['a', 'b']) memory.decide(makeClient({ serial }), view)
    expect(memory.decide(makeClient(), view)).not.toBe(first)
  })
})

describe('a machine that says something new each time', () => {
  it('is not remembered without end, and does not make others be forgotten', () => {
    const memory = createDecisionMemory({ maximum: 100 })
    const other = makeClient({ macs: [mac('52:54:00:00:00:99')] })
    const first = memory.decide(other, view)
    const start = memory.decide(makeClient({ serial: 'first' }), view)
    for (let index = 0; index < 1_000; index += 1) memory.decide(makeClient({ serial: `s${index}` }), view)
    expect(memory.decide(other, view)).toBe(first)
    expect(memory.decide(makeClient({ serial: 'first' }), view)).not.toBe(start)
  })

  it('and one whose firmware and loaders take turns gets the very same decisions', () => {
    const memory = createDecisionMemory()
    const stages = (['none', 'ipxe', 'grub'] as const).map((loader) => makeClient({ loader }))
    const first = stages.map((client) => memory.decide(client, view))
    expect(stages.map((client) => memory.decide({ ...client }, view))).toEqual(first)
    expect(stages.every((client, index) => memory.decide({ ...client }, view) === first[index])).toBe(true)
  })
})

describe('what has changed', () => {
  it('G9 counts at once: another snapshot', () => {
    const memory = createDecisionMemory()
    for (const catalog of [newer, older, newer]) {
      expect(memory.decide(makeClient(), { ...view, catalog })).toEqual(
        decideBoot(makeClient(), { ...view, catalog }),
      )
    }
  })

  it('counts at once: another configuration', () => {
    const memory = createDecisionMemory()
    memory.decide(makeClient(), view)
    const held = makeInventory({ hosts: [makeHost({ ...live, mode: 'hold' })] })
    expect(memory.decide(makeClient(), { ...view, inventory: held }).kind).toBe('hold')
  })

  it('G5 counts at once: a pin ends to the millisecond, wherever it was written', () => {
    const pin = { release: '43.20260601.3.0', until: 5000 }
    const places: Inventory[] = [
      makeInventory({ hosts: [makeHost({ ...live, pins: [pin] })] }),
      makeInventory({ hosts: [makeHost(live)], groups: [makeGroup({ name: 'all', pins: [pin] })] }),
      makeInventory({
        hosts: [makeHost({ ...live, profile: 'worker' })],
        profiles: [makeProfile({ name: 'worker', pins: [pin] })],
      }),
    ]
    for (const pinned of places) {
      const memory = createDecisionMemory()
      const at = (now: number) => memory.decide(makeClient(), { catalog: newer, inventory: pinned, now }).kind
      // A clock that is set back makes it count again.
      expect([at(4999), at(5000), at(4998)]).toEqual(['wait', 'live', 'wait'])
    }
  })

  it('leaves no trace: whatever is asked in whatever order, the answer is that of a fresh decision', () => {
    const ends = fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined })
    const pinnedHost = (id: number, until: number | undefined) =>
      makeHost({
        ...live,
        id: `n${id}`,
        macs: [mac(`52:54:00:00:00:0${id}`)],
        pins: [{ release: '43.1', ...(until === undefined ? {} : { until }) }],
      })
    const question = fc.record({
      machine: fc.integer({ min: 0, max: 3 }),
      now: fc.integer({ min: 0, max: 11 }),
      isOlder: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(ends, { maxLength: 3 }), fc.array(question), (untils, questions) => {
        const hosts = makeInventory({ hosts: untils.map((until, id) => pinnedHost(id, until)) })
        const memory = createDecisionMemory({ maximum: 3 })
        for (const { machine, now, isOlder } of questions) {
          const client = makeClient({ macs: [mac(`52:54:00:00:00:0${machine}`)] })
          const asked = { catalog: isOlder ? older : newer, inventory: hosts, now }
          expect(memory.decide(client, asked)).toEqual(decideBoot(client, asked))
        }
      }),
    )
  })
})
