import { describe, expect, it } from 'vitest'
import type { CountedEvent } from '../../../src/core/boot-attempt.ts'
import { appendEvent } from '../../../src/core/boot-attempts/append-event.ts'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { stepsOfMachine } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1 })

function appended(
  events: readonly BootEvent[],
  maximum = 100,
): { readonly entries: readonly CountedEvent[]; readonly gone: number } {
  const entries: CountedEvent[] = []
  let gone = 0
  for (const event of events) gone += appendEvent(entries, event, maximum)
  return { entries, gone }
}

/** How many steps come of it, with their counts. */
const rows: readonly (readonly [string, readonly number[], readonly BootEvent[]])[] = [
  ['a DISCOVER that was sent again is one', [2], [one.offer(0), one.offer(4)]],
  ['of another run it is another', [1, 1], [one.offer(0), one.offer(4, { xid: 2 })]],
  [
    'of another card it is another',
    [1, 1],
    [one.offer(0), { ...one.offer(4), mac: stepsOfMachine({ number: 2 }).mac }],
  ],
  [
    'a wait that is told again is one',
    [2],
    [one.decided(0, 1, { kind: 'wait' }), one.decided(15, 2, { kind: 'wait' })],
  ],
  [
    'a boot that is told again is another: all files come anew',
    [1, 1, 1],
    [one.decided(0, 1), one.progress(1, 1, 'kernel', 0, 14), one.decided(15, 2)],
  ],
  [
    'a script that is asked for without end, and nothing of it fetched, is two',
    [1, 4],
    [0, 1, 2, 3, 4].map((second) => one.decided(second, second + 1)),
  ],
  [
    'that names another release it is another',
    [1, 1, 1],
    [one.decided(0, 1), one.decided(1, 2), one.decided(2, 3, { bootimage: undefined })],
  ],
  ['looks are one', [3], [one.looks(0, 1, 'rootfs'), one.looks(5, 1, 'rootfs'), one.looks(10, 1, 'rootfs')]],
  [
    'transfers that broke off at different places are two',
    [1, 1],
    [
      one.sent(0, 1, 'rootfs', { completed: false, sentBytes: 5 }),
      one.sent(9, 1, 'rootfs', { completed: false, sentBytes: 6 }),
    ],
  ],
  [
    'what comes again between others is one',
    [2, 2],
    [
      one.sent(0, 1, 'kernel'),
      one.sent(1, 1, 'initramfs'),
      one.sent(9, 1, 'kernel'),
      one.sent(10, 1, 'initramfs'),
    ],
  ],
]

describe('the list of steps', () => {
  it.each(rows)('%s', (_, counts, events) => {
    expect(appended(events).entries.map(({ count }) => count)).toEqual(counts)
  })

  it('has the newest decision where a script was asked for again, from the time of the one in its place', () => {
    const [first, second, third] = [one.decided(0, 1), one.decided(7, 2), one.decided(9, 3)]
    expect(appended([first, second, third]).entries).toEqual([
      { event: first, count: 1, lastAt: first.at },
      { event: { ...third, at: second.at }, count: 2, lastAt: third.at },
    ])
  })

  it('keeps of a transfer its start, its newest place, and one some seconds before', () => {
    const events = Array.from({ length: 1000 }, (_, second) => one.progress(second, 1, 'rootfs', second))
    const places = appended(events).entries.map(({ event }) =>
      event.type === 'artifact-progress' ? event.reachedBytes / 2 ** 20 : -1,
    )
    expect(places[0]).toBe(0)
    expect(places.at(-1)).toBe(999)
    expect(places).toHaveLength(3)
    expect(999 - (places[1] ?? 0)).toBeGreaterThanOrEqual(1)
    expect(999 - (places[1] ?? 0)).toBeLessThanOrEqual(8)
  })

  it('begins a new transfer where the file is fetched from its start again', () => {
    const events = [0, 100, 200, 0, 100].map((place, second) => one.progress(second, 1, 'rootfs', place))
    expect(appended(events).entries.length).toBeGreaterThan(3)
  })

  it('lets those in the middle go when there are too many, and says how many', () => {
    const events = Array.from({ length: 30 }, (_, index) => one.tftpStart(index, `file-${index}`))
    const { entries, gone } = appended(events, 8)
    const names = entries.map(({ event }) => (event.type === 'tftp-started' ? event.file : ''))
    expect(names).toEqual([
      'file-0',
      'file-1',
      'file-24',
      'file-25',
      'file-26',
      'file-27',
      'file-28',
      'file-29',
    ])
    expect(gone).toBe(22)
  })

  it('never changes an entry, so that a copy of the list stays as it was', () => {
    const entries: CountedEvent[] = []
    appendEvent(entries, one.offer(0), 10)
    const copy = entries.slice()
    appendEvent(entries, one.offer(4), 10)
    expect(copy).toMatchObject([{ count: 1 }])
    expect(entries).toMatchObject([{ count: 2 }])
  })
})
