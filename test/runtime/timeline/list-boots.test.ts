import { describe, expect, it } from 'vitest'
import type { BootGlance } from '../../../src/boot/timeline/timeline.ts'
import { createListBoots } from '../../../src/runtime/timeline/list-boots.ts'
import { createMachineIndex } from '../../../src/runtime/timeline/machine-index.ts'
import { makeMac, t0 } from '../../fakes/stored-fleet.ts'
import { bootOf, openTimelineLab } from '../../fakes/timeline-lab.ts'

/** So many boots that the store has not got, and how often one of them was read in full. */
async function flood(count: number) {
  const lab = await openTimelineLab()
  for (let number = 0; number < count; number += 1) {
    lab.note(bootOf(number % 250, { mac: makeMac(number) }).decided(t0 + number))
  }
  const { timeline, store, time } = lab
  let reads = 0
  const attempt = (id: string) => {
    reads += 1
    return timeline.attempt(id)
  }
  return {
    lab,
    attempt,
    reads: () => reads,
    list: createListBoots({
      memory: { attempt, notKept: () => timeline.notInStore(), goingOn: () => timeline.goingOn() },
      store,
      reduce: () => {
        throw new Error('nothing is stored')
      },
      now: time.now,
    }),
  }
}

describe('a list in a flood', () => {
  it('reads those alone that it shows, newest first, page after page', async () => {
    const { list, reads } = await flood(2_000)
    const first = await list({ limit: 10 })
    expect(first.total).toBe(2_000)
    expect(first.items.map(({ mac }) => mac)).toEqual(
      Array.from({ length: 10 }, (_, place) => makeMac(1_999 - place)),
    )
    const second = await list({ limit: 10, after: first.next ?? '' })
    expect(second.items[0]?.mac).toBe(makeMac(1_989))
    expect(reads()).toBe(22)
  })

  it('is counted by its filter, as soon as all of it is shown', async () => {
    const { list } = await flood(20)
    expect(await list({ state: 'stuck' })).toEqual({ items: [], total: 0 })
    expect(await list({ state: 'running' })).toMatchObject({ total: 20 })
    const lab = await openTimelineLab()
    lab.note(bootOf(1).decided(t0), bootOf(2).decided(t0 + 1, { kind: 'wait', bootimage: undefined }))
    await lab.wait(2_000)
    expect(await lab.boots.listBoots({ state: 'stuck' })).toEqual({ items: [], total: 0 })
    expect(await lab.boots.listBoots({ state: 'waiting' })).toMatchObject({ items: [{}], total: 1 })
  })

  it('finds the few that wait behind very many that go on, also when all of them are stored', async () => {
    const lab = await openTimelineLab()
    for (const number of [1, 2, 3]) {
      lab.note(bootOf(number).decided(t0 + number, { kind: 'wait', bootimage: undefined }))
    }
    for (let number = 4; number < 250; number += 1) lab.note(bootOf(number).decided(t0 + number))
    await lab.wait(3_000)
    expect([...lab.timeline.notInStore()]).toEqual([])
    const first = await lab.boots.listBoots({ state: 'waiting', limit: 2 })
    expect(first).toMatchObject({ total: 3, items: [{ mac: makeMac(3) }, { mac: makeMac(2) }] })
    const second = await lab.boots.listBoots({ state: 'waiting', limit: 2, after: first.next ?? '' })
    expect(second.items).toMatchObject([{ mac: makeMac(1) }])
    expect(second.next).toBeUndefined()
    expect(await lab.boots.listBoots({ state: 'running', limit: 5 })).toMatchObject({ total: 246 })
  })

  it('finds by card without reading the others', async () => {
    const { list, reads } = await flood(2_000)
    expect((await list({ mac: makeMac(7) })).items).toMatchObject([{ mac: makeMac(7) }])
    expect(reads()).toBe(1)
  })
})

describe('the index of machines', () => {
  it('reads no boot in full to tell where each machine is', async () => {
    const { lab, attempt, reads } = await flood(2_000)
    while (lab.timeline.settle(t0 + 2_250));
    await lab.wait(5_000)
    const index = createMachineIndex({ glance: (id) => lab.timeline.glance(id), attempt })
    for (const { id } of lab.timeline.notInStore()) index.changed(id)
    for (const { id } of lab.timeline.attempts()) index.changed(id)
    expect(index.counts()).toMatchObject({ running: 2_000 })
    expect(reads()).toBe(0)
  })

  it('forgets those that were silent for longest, and whoever keeps what was told looks at all anew', () => {
    const seen = Array.from(
      { length: 40 },
      (_, number) =>
        ({
          id: String(number).padStart(15, '0'),
          mac: makeMac(number),
          startedAt: t0,
          lastAt: t0,
          state: 'running',
          events: [],
        }) as unknown as BootGlance,
    )
    const byId = new Map(seen.map((glance) => [glance.id, glance]))
    const index = createMachineIndex({ glance: (id) => byId.get(id), attempt: () => undefined, maximum: 16 })
    for (const { id } of seen.slice(0, 10)) index.changed(id)
    expect(index.takeChanged()).toMatchObject({ isAny: true })
    for (const { id } of seen.slice(0, 10)) index.changed(id)
    expect(index.takeChanged()).toMatchObject({ isAny: false, macs: { size: 10 } })
    for (const { id } of seen.slice(10)) index.changed(id)
    expect(index.takeChanged()).toMatchObject({ isAny: true, macs: { size: 0 } })
    expect([...index.cards()].map(([mac]) => mac).at(-1)).toBe(makeMac(39))
    expect([...index.cards()].length).toBeLessThanOrEqual(16)
  })
})
