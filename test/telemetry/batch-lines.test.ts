import { expect, test } from 'vitest'
import { batchLines } from '../../src/telemetry/batch-lines.ts'
import { createLog } from '../../src/telemetry/create-log.ts'

function batchByHand() {
  const written: string[] = []
  const turns: (() => void)[] = []
  const batch = batchLines({ write: (text) => written.push(text) }, (run) => turns.push(run))
  function endTurn(): void {
    for (const run of turns.splice(0)) run()
  }
  return { written, batch, endTurn }
}

test('the lines of one turn leave in one write, in their order', () => {
  const { written, batch, endTurn } = batchByHand()
  batch.write('a\n')
  batch.write('b\n')
  expect(written).toEqual([])
  endTurn()
  expect(written).toEqual(['a\nb\n'])
  batch.write('c\n')
  endTurn()
  expect(written).toEqual(['a\nb\n', 'c\n'])
})

test('a flush writes at once and nothing twice', () => {
  const { written, batch, endTurn } = batchByHand()
  batch.write('a\n')
  batch.flush()
  batch.flush()
  endTurn()
  expect(written).toEqual(['a\n'])
})

test('a turn that logs without end is written in between', () => {
  const { written, batch } = batchByHand()
  for (let count = 0; count < 3; count += 1) batch.write('x'.repeat(40_000))
  expect(written.map((text) => text.length)).toEqual([80_000])
})

test('a warning or an error takes with it what waits', () => {
  const { written, batch } = batchByHand()
  const log = createLog({ level: 'info', destination: batch })
  log.info({}, 'boot decided')
  expect(written).toEqual([])
  log.error({}, 'boot request failed')
  expect(written.join('').match(/boot \w+/g)).toEqual(['boot decided', 'boot request'])
})
