import { expect, test } from 'vitest'
import { createEventQueue } from '../../src/runtime/event-queue.ts'

test('events of one turn are handled at its end, each once and in their order', () => {
  const handled: string[] = []
  const turns: (() => void)[] = []
  const queue = createEventQueue<string>(
    (event) => handled.push(event),
    (run) => turns.push(run),
  )
  for (const event of ['a', 'b']) queue.push(event)
  expect([handled, turns.length]).toEqual([[], 1])
  turns.shift()?.()
  expect(handled).toEqual(['a', 'b'])
  queue.push('c')
  queue.drain()
  turns.shift()?.()
  expect(handled).toEqual(['a', 'b', 'c'])
})

test('an event that comes while others are handled waits for the next turn', () => {
  const handled: number[] = []
  const turns: (() => void)[] = []
  const queue = createEventQueue<number>(
    (event) => {
      handled.push(event)
      if (event < 3) queue.push(event + 1)
    },
    (run) => turns.push(run),
  )
  queue.push(1)
  turns.shift()?.()
  expect(handled).toEqual([1])
  turns.shift()?.()
  expect(handled).toEqual([1, 2])
})
