import { expect, test } from 'vitest'
import { createRowWriter } from '../../../../src/http/admin/page/row-writer.ts'

function setUp(most?: number) {
  const rendered: string[] = []
  const write = createRowWriter(
    {
      render(_, values) {
        const { row } = values as { readonly row: { readonly name: string } }
        rendered.push(row.name)
        return `<${row.name.slice(0, 3)}>`
      },
    },
    most,
  )
  return { write, rendered }
}

test('a row that says the same is made once, one that moved is made anew', () => {
  const { write, rendered } = setUp()
  expect(write([{ name: 'a' }, { name: 'b' }])).toBe('<a><b>')
  expect(write([{ name: 'b' }, { name: 'c' }, { name: 'a' }])).toBe('<b><c><a>')
  expect(rendered).toEqual(['a', 'b', 'c'])
})

test('only so many are kept, and none that a hostile machine blew up', () => {
  const { write, rendered } = setUp(2)
  write(['a', 'b', 'c'].map((name) => ({ name })))
  write([{ name: 'a' }])
  expect(rendered).toEqual(['a', 'b', 'c', 'a'])
  const long = { name: 'x'.repeat(5_000) }
  write([long])
  write([long])
  expect(rendered.filter((name) => name === long.name)).toHaveLength(2)
})
