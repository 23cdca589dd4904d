import { expect, it } from 'vitest'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { promote } from '../../src/rollout/promote.ts'
import type { StreamHead } from '../../src/state/store.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'] as unknown as readonly [
  BootimageId,
  BootimageId,
  BootimageId,
  BootimageId,
]
const base: StreamHead = { stream: 's', arch: 'x86_64', previous: [] }

const cases: readonly {
  name: string
  head: StreamHead
  ready?: BootimageId
  keep: number
  expected: StreamHead
}[] = [
  {
    name: 'the first bootimage becomes current with nothing before it',
    head: { ...base, target: a },
    ready: a,
    keep: 2,
    expected: { ...base, target: a, current: a, previous: [], changedAt: 9 },
  },
  {
    name: 'G3 the old current becomes the newest previous in the same step',
    head: { ...base, target: b, current: a, previous: [c] },
    ready: b,
    keep: 2,
    expected: { ...base, target: b, current: b, previous: [a, c], changedAt: 9 },
  },
  {
    name: 'only as many previous ones stay as are to be kept',
    head: { ...base, target: d, current: c, previous: [b, a] },
    ready: d,
    keep: 1,
    expected: { ...base, target: d, current: d, previous: [c], changedAt: 9 },
  },
  {
    name: 'G9 going back to a previous one does not list it twice',
    head: { ...base, target: a, current: b, previous: [a, c] },
    ready: a,
    keep: 2,
    expected: { ...base, target: a, current: a, previous: [b, c], changedAt: 9 },
  },
  {
    name: 'a set that is ready but not the target changes nothing',
    head: { ...base, target: b, current: a },
    ready: c,
    keep: 2,
    expected: { ...base, target: b, current: a },
  },
  {
    name: 'what is current already changes nothing',
    head: { ...base, target: a, current: a, changedAt: 1 },
    ready: a,
    keep: 2,
    expected: { ...base, target: a, current: a, changedAt: 1 },
  },
]

it.each(cases)('$name', ({ head, ready, keep, expected }) => {
  expect(promote(head, { ready: ready ?? a, keep, now: 9 })).toEqual(expected)
})
