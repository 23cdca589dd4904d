import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBlockReader } from '../../src/cli/event-blocks.ts'

const stream =
  'retry: 2000\nid: 10-0\n\n' +
  ': still here\nid: 10-4\n\n' +
  'id: 10-5\nevent: boot\ndata: {"host":"rack1-n01","text":"a\\nb"}\n\n' +
  'event: gap\ndata:\n\n' +
  'data: one\ndata:  two\ncolour: blue\nid\n\n'

const blocks = [
  { id: '10-0' },
  { id: '10-4' },
  { id: '10-5', event: 'boot', data: '{"host":"rack1-n01","text":"a\\nb"}' },
  { event: 'gap', data: '' },
  { data: 'one\n two', id: '' },
]

it('reads ids, events and data, and leaves out what it does not know', () => {
  expect(createBlockReader()(stream)).toEqual(blocks)
})

it('reads the same however the stream is cut, and nothing of an event that is not whole', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length }), { maxLength: 12 }), (cuts) => {
      const read = createBlockReader()
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length]
      const pieces = places.slice(1).map((end, index) => stream.slice(places[index], end))
      expect(pieces.flatMap((piece) => read(piece))).toEqual(blocks)
      expect(read('id: 10-6\nevent: boot\ndata: {}\n')).toEqual([])
    }),
  )
})

it('an event without an end is refused before it fills the memory', () => {
  const read = createBlockReader()
  expect(() => {
    for (let index = 0; index < 2_000; index += 1) read('x'.repeat(1_000))
  }).toThrow('longer')
})
