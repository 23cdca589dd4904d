import { describe, expect, it } from 'vitest'
import { createLineLimiter } from '../../src/core/line-limiter.ts'

function setup(mostLines = 100, mostKeys?: number) {
  let now = 0
  const limiter = createLineLimiter({
    clock: { now: () => now },
    mostLines,
    ...(mostKeys === undefined ? {} : { mostKeys }),
  })
  return {
    limiter,
    pass(ms: number) {
      now += ms
    },
  }
}

describe('a line limiter', () => {
  it('lets each key through once a minute, and says then how many were left out', () => {
    const { limiter, pass } = setup()
    expect(limiter.admit('a')).toBe(0)
    expect(limiter.admit('a')).toBeUndefined()
    expect(limiter.admit('b')).toBe(0)
    pass(60_000)
    expect(limiter.admit('a')).toBe(1)
  })

  it('stops at so many lines of all keys together, and tells of them with the next line', () => {
    const { limiter, pass } = setup(3)
    const admitted = Array.from({ length: 10 }, (_, index) => limiter.admit(`invented ${index}`))
    expect(admitted.filter((each) => each !== undefined)).toHaveLength(3)
    pass(60_000)
    expect(limiter.admit('another')).toBe(7)
    expect(limiter.admit('one more')).toBe(0)
  })

  it('counts lines without a key among all, and never holds one back for its like', () => {
    const { limiter } = setup(3)
    expect([1, 2, 3, 4].map(() => limiter.admit(undefined))).toEqual([0, 0, 0, undefined])
  })

  it('writes what is urgent although the share is used up', () => {
    const { limiter } = setup(1)
    limiter.admit('a')
    expect(limiter.admit('disk full', true)).toBe(0)
  })

  it('a clock that was set back mutes nothing for long', () => {
    const { limiter, pass } = setup(2)
    pass(10_000_000)
    expect(limiter.admit('a')).toBe(0)
    expect(limiter.admit('b')).toBe(0)
    pass(-5_000_000)
    expect(limiter.admit('a')).toBe(0)
    expect(limiter.admit('c')).toBe(0)
  })

  it('forgets the oldest key instead of growing', () => {
    const { limiter } = setup(100, 2)
    for (const key of ['a', 'b', 'c']) limiter.admit(key)
    expect(limiter.admit('c')).toBeUndefined()
    expect(limiter.admit('a')).toBe(0)
  })
})
