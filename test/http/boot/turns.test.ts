import { expect, test } from 'vitest'
import { createTurns } from '../../../src/http/boot/turns.ts'

const nextLoopTurn = () => new Promise((resolve) => setImmediate(resolve))

test('no more slices a turn of the loop than allowed, first come, first served', async () => {
  const turns = createTurns(2)
  const done: number[] = []
  for (const id of [1, 2, 3, 4, 5]) void turns.next().then(() => done.push(id))
  expect(done).toEqual([])
  const seen: number[] = []
  while (done.length < 5) {
    await nextLoopTurn()
    seen.push(done.length)
  }
  expect(done).toEqual([1, 2, 3, 4, 5])
  const growth = seen.map((count, index) => count - (seen[index - 1] ?? 0))
  expect(Math.max(...growth)).toBe(2)
})

test('turns that come later start the loop again', async () => {
  const turns = createTurns(1)
  await turns.next()
  await turns.next()
  expect(await turns.next()).toBeUndefined()
})
