import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createEndTimes } from '../../src/core/end-times.ts'

it('finds the next end after any moment, also one that was before, as often as it was added', () => {
  const step = fc.tuple(fc.boolean(), fc.constantFrom(1, 2, 3, 5, 8, Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const ends = createEndTimes()
      const kept: number[] = []
      for (const [isAdded, end] of steps) {
        if (isAdded) kept.push(end)
        else if (kept.includes(end)) kept.splice(kept.indexOf(end), 1)
        else continue
        if (isAdded) ends.add(end)
        else ends.remove(end)
        for (let now = 0; now < 10; now += 1) {
          expect(ends.nextAfter(now)).toBe(Math.min(...kept.filter((known) => known > now)))
        }
      }
    }),
  )
})

it('takes what never ends for what it is', () => {
  const ends = createEndTimes()
  ends.add(undefined)
  ends.add(Number.NaN)
  ends.remove(undefined)
  expect(ends.nextAfter(0)).toBe(Number.POSITIVE_INFINITY)
})
