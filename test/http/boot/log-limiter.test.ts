import { expect, test } from 'vitest'
import { createLogLimiter } from '../../../src/http/boot/log-limiter.ts'
import { createManualTime } from '../../fakes/manual-time.ts'

test('one line a minute for each key (field case 84)', async () => {
  const clock = createManualTime()
  const limiter = createLogLimiter({ clock })
  expect(limiter.allows('a')).toBe(true)
  expect(limiter.allows('a')).toBe(false)
  expect(limiter.allows('b')).toBe(true)
  await clock.advance(59_999)
  expect(limiter.allows('a')).toBe(false)
  await clock.advance(1)
  expect(limiter.allows('a')).toBe(true)
})

test('a clock that was set back mutes nothing for long', () => {
  let now = 10_000_000
  const limiter = createLogLimiter({ clock: { now: () => now } })
  expect(limiter.allows('a')).toBe(true)
  now = 0
  expect(limiter.allows('a')).toBe(true)
})

test('memory is bounded: the oldest key is forgotten', () => {
  const limiter = createLogLimiter({ clock: createManualTime(), maxKeys: 2 })
  for (const key of ['a', 'b', 'c']) expect(limiter.allows(key)).toBe(true)
  expect(limiter.allows('c')).toBe(false)
  expect(limiter.allows('a')).toBe(true)
})
