import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../../src/core/boot-attempt.ts'
import { defaultLimits } from '../../../src/core/boot-attempts/phase-limits.ts'
import { reduceAttempt } from '../../../src/core/boot-attempts/reduce-attempt.ts'
import { createShowBoot } from '../../../src/runtime/timeline/show-boot.ts'
import { makeHost, makeInventory } from '../../fakes/machines.ts'
import { makeAttempt, makeAttemptId } from '../../fakes/stored-attempts.ts'
import { makeBootId, makeMac, t0 } from '../../fakes/stored-fleet.ts'
import { bootOf, openTimelineLab } from '../../fakes/timeline-lab.ts'

const second = 1_000
const minute = 60 * second

const hosts = [1, 2, 3].map((number) => makeHost({ id: `n${number}`, macs: [makeMac(number)] }))
const inventory = makeInventory({ hosts })

async function busyLab() {
  const lab = await openTimelineLab({ inventory })
  const boots = [1, 2, 3].map((number) => bootOf(number, { host: `n${number}` }))
  for (const [place, boot] of boots.entries()) lab.note(boot.decided(t0 + place))
  await lab.wait(2 * second)
  return { lab, boots: boots as [(typeof boots)[0], (typeof boots)[0], (typeof boots)[0]] }
}

describe('a list of boots', () => {
  it('is one list, newest first, of what is kept and what is not kept yet', async () => {
    const { lab } = await busyLab()
    lab.note(bootOf(4).decided(lab.time.now()))
    await lab.wait(300)
    const { items, total } = await lab.boots.listBoots({})
    expect(items.map(({ mac }) => mac)).toEqual([4, 3, 2, 1].map(makeMac))
    expect(total).toBe(4)
    expect(items[1]).toMatchObject({
      host: 'n3',
      bootId: makeBootId(3),
      state: 'running',
      phase: 'script',
      decision: 'live',
      reason: 'follows stream fcos-stable: current is 44.20261101.3.0',
      release: '44.20261101.3.0',
      arch: 'x86_64',
      startedAt: new Date(t0 + 2).toISOString(),
      durationMs: 2_298,
    })
  })

  it('pages do not shift when there are new boots', async () => {
    const { lab } = await busyLab()
    const first = await lab.boots.listBoots({ limit: 2 })
    expect(first).toMatchObject({ total: 3, next: first.items[1]?.id })
    lab.note(bootOf(4).decided(lab.time.now()))
    await lab.wait(300)
    const second = await lab.boots.listBoots({ limit: 2, after: first.next ?? '' })
    expect(second.items.map(({ host }) => host)).toEqual(['n1'])
    expect(second.next).toBeUndefined()
  })

  it('tells what goes on as it is now, not as it was written', async () => {
    const { lab, boots } = await busyLab()
    lab.note(boots[0].reported(lab.time.now()))
    expect((await lab.boots.listBoots({ outcome: 'booted' })).items).toEqual([])
    await lab.wait(1_300)
    lab.note(boots[1].reported(lab.time.now(), 'failed'))
    await lab.wait(300)
    const running = await lab.boots.listBoots({ state: 'running' })
    expect(running.items.map(({ host }) => host)).toEqual(['n3'])
    const over = await lab.boots.listBoots({ state: 'over' })
    expect(over.items.map(({ host, outcome }) => [host, outcome])).toContainEqual(['n1', 'booted'])
  })

  it('is of a host, a card, a time', async () => {
    const { lab } = await busyLab()
    const hostsOf = async (query: object) => (await lab.boots.listBoots(query)).items.map(({ host }) => host)
    expect(await hostsOf({ host: 'n2' })).toEqual(['n2'])
    expect(await hostsOf({ mac: '52-54-00-00-00-03' })).toEqual(['n3'])
    expect(await hostsOf({ since: new Date(t0 + 1).toISOString() })).toEqual(['n3', 'n2'])
    expect(await hostsOf({ since: '1h' })).toHaveLength(3)
  })

  it.each([
    [{ mac: 'none' }, 'mac "none" is not understood'],
    [{ after: 'x' }, 'after is not understood'],
    [{ since: 'never' }, 'since "never" is not understood'],
  ])('%j is refused', async (query, message) => {
    const { lab } = await busyLab()
    await expect(lab.boots.listBoots(query)).rejects.toMatchObject({ code: 'USAGE', message })
  })

  it('a host that nobody has is not just an empty list', async () => {
    const { lab } = await busyLab()
    await expect(lab.boots.listBoots({ host: 'n4' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { hint: expect.stringContaining('n1') },
    })
  })

  it('boots of before, which memory does not hold, are listed as they ended', async () => {
    const lab = await openTimelineLab()
    await lab.store.saveAttempts([makeAttempt(1, { outcome: 'failed', endedAt: t0 + minute })])
    expect((await lab.boots.listBoots({})).items).toMatchObject([
      { id: makeAttempt(1).id, state: 'over', outcome: 'failed', release: '44.20261101.3.0' },
    ])
  })
})

describe('one boot', () => {
  it('is found by its own id, by each of its decisions, by host and by card', async () => {
    const { lab, boots } = await busyLab()
    const again = bootOf(1, { host: 'n1', bootId: makeBootId(99) })
    lab.note(again.decided(lab.time.now()))
    const shown = await lab.boots.showBoot('n1')
    expect(shown.bootIds).toEqual([boots[0].bootId, makeBootId(99)])
    for (const name of [shown.id, boots[0].bootId, makeBootId(99), makeMac(1), '52-54-00-00-00-01']) {
      expect((await lab.boots.showBoot(name)).id, name).toBe(shown.id)
    }
  })

  it('has every step, its phases and its reasons', async () => {
    const { lab, boots } = await busyLab()
    const [boot] = boots
    lab.note(boot.sent('kernel', t0 + 3_000), boot.progress(t0 + 4_000, 0), boot.progress(t0 + 5_000, 400))
    await lab.wait(4_000)
    const shown = await lab.boots.showBoot('n1')
    expect(shown.transfer).toMatchObject({ role: 'initramfs', percent: 40, isDone: false })
    expect(shown.reasons).toEqual([
      { code: 'follows-current', text: 'follows stream fcos-stable: current is 44.20261101.3.0' },
    ])
    expect(shown.phases.map(({ phase }) => phase)).toEqual(['script', 'kernel', 'initramfs'])
    expect(shown.steps[0]).toMatchObject({ type: 'decided', offsetMs: 0, count: 1, tone: 'normal' })
    expect(shown.steps[1]).toMatchObject({ type: 'artifact-sent', offsetMs: 3_000, phase: 'kernel' })
  })

  it('of which memory knows the head alone is shown whole', async () => {
    const { lab, boots } = await busyLab()
    const [boot] = boots
    lab.note(boot.sent('kernel', t0 + 3_000), boot.sent('initramfs', t0 + 4_000), boot.reported(t0 + 5_000))
    await lab.wait(6_000)
    const before = await lab.boots.showBoot('n1')
    const [head] = await lab.store.listLastAttempts({ limit: 1 })
    if (head === undefined) throw new Error('nothing was kept')
    const reduce = (record: AttemptRecord) =>
      reduceAttempt(record, { now: lab.time.now(), limits: defaultLimits })
    const showBoot = createShowBoot({
      timeline: { attempt: () => reduce(head), of: () => [reduce(head)] },
      store: lab.store,
      reduce,
      inventory: () => inventory,
      now: lab.time.now,
    })
    expect(reduce(head).steps.length).toBeLessThan(before.steps.length)
    for (const name of ['n1', before.id]) expect((await showBoot(name)).steps, name).toEqual(before.steps)
  })

  it('of before, which memory does not hold, comes from what is kept', async () => {
    const lab = await openTimelineLab()
    await lab.store.saveAttempts([makeAttempt(1, { outcome: 'lost', endedAt: t0 + minute })])
    const { id } = makeAttempt(1)
    for (const name of [id, makeBootId(1), makeMac(1), 'rack1-n1']) {
      expect(await lab.boots.showBoot(name), name).toMatchObject({ id, outcome: 'lost' })
    }
  })

  it.each([
    ['n3', /no boot of n3 is known/],
    [makeMac(9), /no boot of 52:54:00:00:00:09 is known/],
    [makeBootId(7), /no boot A+7 is known/],
    ['n4', /no host has the id n4/],
    [makeAttemptId(5), /no host has the id/],
  ])('%s that nothing is known of is said to be unknown', async (name, message) => {
    const lab = await openTimelineLab({ inventory })
    await expect(lab.boots.showBoot(name)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(message),
    })
  })
})

describe('packets of a machine', () => {
  it('that are not kept are said not to be, with what to do', async () => {
    const lab = await openTimelineLab()
    await expect(lab.boots.capture({ mac: makeMac(1) })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(lab.boots.capture({ mac: 'x' })).rejects.toMatchObject({ code: 'USAGE' })
  })
})
