import { expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/core/boot-attempt.ts'
import type { AttemptFilter, StateStore } from '../../src/state/store.ts'
import { counted, makeAttempt, makeAttemptId, wholeEvents } from '../fakes/stored-attempts.ts'
import { makeBootId, makeMac, t0 } from '../fakes/stored-fleet.ts'

const diagnosis = { code: 'overdue', text: 'nothing came', remedy: 'look at it', at: t0 + 9 } as const

/** Boots and what happened in them; part of what every state store does. */
export function describeAttemptStore(current: () => StateStore): void {
  const idsOf = (records: readonly AttemptRecord[]) => records.map(({ id }) => id)
  const list = (filter: AttemptFilter = {}) => current().listAttempts({ ...filter, limit: 1000 })

  it('has seen no boot at first', async () => {
    expect(await list()).toEqual([])
    expect(await current().countAttempts({})).toBe(0)
    expect(await current().listLastAttempts({ limit: 10 })).toEqual([])
    await current().saveAttempts([])
    expect(await current().trimAttempts({ startedBefore: t0, keep: 0, keepStrangers: 0, most: 10 })).toEqual({
      removed: 0,
    })
  })

  it('a boot comes back as it was, with every field of every event', async () => {
    const record = makeAttempt(1, {
      lastAt: t0 + 20,
      outcome: 'booted',
      endedAt: t0 + 20,
      diagnosis,
      events: Object.values(wholeEvents).map((event) => ({ event, count: 3, lastAt: event.at + 1 })),
      leftOut: 7,
    })
    const little: AttemptRecord = {
      id: makeAttemptId(t0),
      startedAt: t0,
      lastAt: t0,
      events: [],
      leftOut: 0,
    }
    await current().saveAttempts([record, little])
    expect(await list()).toEqual([record, little])
  })

  it('what is saved again stands for what was kept', async () => {
    const before = makeAttempt(1)
    const after = makeAttempt(1, {
      host: 'renamed',
      lastAt: t0 + 9_000,
      outcome: 'failed',
      endedAt: t0 + 9_000,
      diagnosis,
      events: counted(wholeEvents.reported),
      leftOut: 2,
    })
    await current().saveAttempts([before])
    await current().saveAttempts([after])
    expect(await list()).toEqual([after])
  })

  it('a head adds what came since to the events that are kept', async () => {
    const { decided, reported } = wholeEvents
    const sent = wholeEvents['artifact-sent']
    await current().saveAttempts([makeAttempt(1, { events: counted(decided, sent) })])
    const head = makeAttempt(1, { outcome: 'booted', events: counted(decided, reported), isHead: true })
    await current().saveAttempts([head])
    expect(await list()).toEqual([
      makeAttempt(1, { outcome: 'booted', events: counted(decided, sent, reported) }),
    ])
    // Whoever takes it up again has the report as well.
    expect(await current().listLastAttempts({ limit: 10 })).toMatchObject([
      { isHead: true, events: counted(decided, reported) },
    ])
  })

  it('a head of a boot that is not kept any more is kept as it is', async () => {
    await current().saveAttempts([makeAttempt(1, { isHead: true })])
    expect(await list()).toEqual([makeAttempt(1)])
  })

  it('lists the newest first, page by page, and counts all of them', async () => {
    const boots = Array.from({ length: 7 }, (_, index) => makeAttempt(index))
    await current().saveAttempts(boots)
    const newest = idsOf(boots).toReversed()
    const first = await current().listAttempts({ limit: 3 })
    expect(idsOf(first)).toEqual(newest.slice(0, 3))
    const second = await current().listAttempts({ limit: 3, before: first.at(-1)?.id })
    expect(idsOf(second)).toEqual(newest.slice(3, 6))
    expect(await current().countAttempts({})).toBe(7)
    expect(await current().listAttempts({ limit: 0 })).toEqual([])
  })

  it('finds them by everything that they are searched by', async () => {
    const over = makeAttempt(1, { outcome: 'booted', endedAt: t0 + 5_000 })
    const stuck = makeAttempt(2, { diagnosis })
    const failed = makeAttempt(3, { host: 'rack1-n1', outcome: 'failed', endedAt: t0 + 9_000, diagnosis })
    await current().saveAttempts([over, stuck, failed])
    const cases: readonly [AttemptFilter, readonly AttemptRecord[]][] = [
      [{ id: stuck.id }, [stuck]],
      [{ bootId: makeBootId(3) }, [failed]],
      [{ bootId: makeBootId(9) }, []],
      [{ host: 'rack1-n1' }, [failed, over]],
      [{ mac: makeMac(2) }, [stuck]],
      [{ isOver: true }, [failed, over]],
      [{ isOver: false }, [stuck]],
      [{ outcome: 'booted' }, [over]],
      [{ pattern: 'overdue' }, [failed, stuck]],
      [{ pattern: 'loader-loop' }, []],
      [{ since: t0 + 2_000 }, [failed, stuck]],
      [{ since: t0 + 3_001 }, []],
      [{ host: 'rack1-n1', outcome: 'failed', pattern: 'overdue', since: t0 }, [failed]],
      [{ host: 'rack1-n2', outcome: 'failed' }, []],
    ]
    for (const [filter, expected] of cases) {
      expect(idsOf(await list(filter)), JSON.stringify(filter)).toEqual(idsOf(expected))
      expect(await current().countAttempts(filter), JSON.stringify(filter)).toBe(expected.length)
    }
  })

  it('a boot is found by each of the cards that tried in it, and comes back with them', async () => {
    const [own, second, third] = [makeMac(1), makeMac(12), makeMac(11)]
    const record = makeAttempt(1, { otherMacs: [second, third] })
    await current().saveAttempts([record, makeAttempt(2)])
    await current().saveAttempts([record])
    for (const mac of [own, second, third]) {
      expect(await list({ mac }), mac).toEqual([record])
      expect(await list({ mac, host: record.host, since: t0 }), mac).toEqual([record])
      expect(await current().countAttempts({ mac }), mac).toBe(1)
    }
    expect(await current().listLastAttempts({ limit: 1 })).toMatchObject([{ otherMacs: [second, third] }])
    await current().trimAttempts({ startedBefore: t0 + 2_000, keep: 100, keepStrangers: 100, most: 10 })
    expect(await list({ mac: second })).toEqual([])
  })

  it('a boot is found by the id of each of its decisions', async () => {
    const first = { ...wholeEvents.decided, bootId: makeBootId(8), kind: 'chainload' } as const
    const second = { ...wholeEvents.decided, bootId: makeBootId(9) }
    await current().saveAttempts([makeAttempt(1, { bootId: makeBootId(8), events: counted(first) })])
    await current().saveAttempts([makeAttempt(1, { bootId: makeBootId(9), events: counted(first, second) })])
    for (const number of [8, 9]) {
      expect(await list({ bootId: makeBootId(number) }), String(number)).toHaveLength(1)
    }
    expect(await list({ bootId: makeBootId(7) })).toEqual([])
  })

  it('gives the last boot of each host, with what a list tells of it', async () => {
    const { decided, reported } = wholeEvents
    const events = counted(decided, wholeEvents['artifact-sent'], reported, wholeEvents['token-refused'])
    const boots = [
      makeAttempt(1),
      makeAttempt(2),
      makeAttempt(3, { host: 'rack1-n1', events, outcome: 'booted', endedAt: t0 + 9_000 }),
      makeAttempt(4, { host: undefined }),
    ]
    await current().saveAttempts(boots)
    const [first, second, ...others] = await current().listLastAttempts({ limit: 10 })
    expect(first).toEqual({
      ...makeAttempt(3, { host: 'rack1-n1', outcome: 'booted', endedAt: t0 + 9_000 }),
      events: counted(decided, reported, wholeEvents['token-refused']),
      isHead: true,
    })
    expect(second).toEqual({ ...makeAttempt(2), isHead: true })
    expect(others).toEqual([])
    expect(await current().listLastAttempts({ limit: 1 })).toEqual([first])
    expect(await current().listLastAttempts({ limit: 1, afterHost: 'rack1-n1' })).toEqual([second])
    expect(await current().listLastAttempts({ limit: 1, afterHost: 'rack1-n2' })).toEqual([])
  })

  it('old boots leave, and the oldest of those that are too many, a few at a time', async () => {
    const boots = Array.from({ length: 9 }, (_, index) => makeAttempt(index))
    await current().saveAttempts(boots)
    const { trimAttempts } = current()
    expect(await trimAttempts({ startedBefore: t0 + 3_000, keep: 100, keepStrangers: 100, most: 2 })).toEqual(
      { removed: 2 },
    )
    expect(await trimAttempts({ startedBefore: t0 + 3_000, keep: 100, keepStrangers: 100, most: 2 })).toEqual(
      { removed: 1 },
    )
    expect(await trimAttempts({ startedBefore: t0 + 3_000, keep: 4, keepStrangers: 4, most: 10 })).toEqual({
      removed: 2,
    })
    expect(await trimAttempts({ startedBefore: t0 + 3_000, keep: 4, keepStrangers: 4, most: 10 })).toEqual({
      removed: 0,
    })
    expect(idsOf(await list())).toEqual(idsOf(boots).slice(5).toReversed())
  })

  it('boots of machines that no record matches have a number of their own, and push out no other', async () => {
    const known = [0, 1, 2].map((index) => makeAttempt(index))
    const strangers = Array.from({ length: 9 }, (_, index) => makeAttempt(10 + index, { host: undefined }))
    await current().saveAttempts([...known, ...strangers])
    const limits = { startedBefore: t0, keep: 3, keepStrangers: 2, most: 100 }
    expect(await current().trimAttempts(limits)).toEqual({ removed: 7 })
    expect(idsOf(await list())).toEqual(idsOf([...known, ...strangers.slice(-2)]).toReversed())
  })

  it('a boot that has gone is found by none of its ids', async () => {
    const first = { ...wholeEvents.decided, bootId: makeBootId(8) }
    await current().saveAttempts([makeAttempt(1, { events: counted(first) })])
    await current().trimAttempts({ startedBefore: t0 + 5_000, keep: 100, keepStrangers: 100, most: 10 })
    expect(await list({ bootId: makeBootId(8) })).toEqual([])
    expect(await list({ bootId: makeBootId(1) })).toEqual([])
  })

  it('a thousand boots are written in one go', async () => {
    await current().saveAttempts(Array.from({ length: 1_000 }, (_, index) => makeAttempt(index)))
    expect(await current().countAttempts({})).toBe(1_000)
  })

  it('whatever text a machine sent comes back as it went in', async () => {
    const odd = [
      '<script>alert(1)</script>',
      `'; drop table boot_timeline; --`,
      '\u0000\u0007\u001b[31mred',
      '\u202e\u{1f680}',
      'a\ud800b',
      'x'.repeat(65_536),
    ]
    const events = counted(
      ...odd.map((message, index) => ({ ...wholeEvents.reported, at: t0 + index, message })),
    )
    await current().saveAttempts([makeAttempt(1, { events })])
    expect((await list())[0]?.events).toEqual(events)
  })
}
