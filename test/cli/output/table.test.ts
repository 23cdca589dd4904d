import { expect, test } from 'vitest'
import { renderFields, renderTable } from '../../../src/cli/output/table.ts'

const columns = [
  { title: 'NAME' },
  { title: 'SIZE', align: 'right' },
  { title: 'NOTE', canShrink: true },
] as const

test('cells are aligned under their headings, without trailing blanks', () => {
  const text = renderTable(
    columns,
    [
      ['a', '1 B', ''],
      ['long-name', '100 MiB', 'note'],
    ],
    { color: false },
  )
  expect(text).toBe('NAME          SIZE  NOTE\na              1 B\nlong-name  100 MiB  note\n')
})

test('on a narrow terminal the column that may shrink is cut, the others are not', () => {
  const text = renderTable(columns, [['long-name', '100 MiB', 'a note that is far too long']], {
    color: false,
    width: 34,
  })
  expect(text.split('\n')[1]).toBe('long-name  100 MiB  a note that i…')
  expect([...(text.split('\n')[1] ?? '')]).toHaveLength(34)
})

test('a column is never cut below readability, however narrow the terminal', () => {
  const text = renderTable(columns, [['long-name', '100 MiB', 'a note that is far too long']], {
    color: false,
    width: 10,
  })
  expect(text.split('\n')[1]).toBe('long-name  100 MiB  a note …')
})

test('where nobody looks nothing is cut', () => {
  const note = 'x'.repeat(500)
  expect(renderTable(columns, [['a', 'b', note]], { color: false })).toContain(note)
})

test('headings are bold only with colour', () => {
  expect(renderTable([{ title: 'A' }], [], { color: true })).toBe('\u001b[1mA\u001b[0m\n')
  expect(renderTable([{ title: 'A' }], [], { color: false })).toBe('A\n')
})

test('what a document or a client named cannot control the terminal or add a row', () => {
  const text = renderTable([{ title: 'A' }], [['\u001b[2J\nfake row']], { color: false })
  expect(text).toBe('A\n\\x1b[2J\\x0afake row\n')
})

test('fields stand below each other', () => {
  expect(
    renderFields([
      ['decision', 'live'],
      ['arch', 'x86_64'],
    ]),
  ).toBe('decision  live\narch      x86_64\n')
})
