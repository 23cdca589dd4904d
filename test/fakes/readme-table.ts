import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'

const readme = resolve(import.meta.dirname, '../../README.md')

/** A table in Markdown, one row a line. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/[|<]/g, '\\$&')).join(' | ')} |\n`
  return [titles, titles.map(() => '---'), ...rows].map(line).join('')
}

/**
 * Holds the README to a table that is made from the code, between `<!-- table: NAME -->` and `<!-- end -->`.
 * UPDATE_GOLDEN=1 writes it.
 */
export function expectReadmeTable(name: string, table: string): void {
  const text = readFileSync(readme, 'utf8')
  const begin = `<!-- table: ${name} -->\n`
  const start = text.indexOf(begin) + begin.length
  const end = text.indexOf('<!-- end -->', start)
  expect(start).toBeGreaterThan(begin.length)
  expect(end).toBeGreaterThanOrEqual(start)
  if (process.env.UPDATE_GOLDEN === '1') {
    writeFileSync(readme, text.slice(0, start) + table + text.slice(end))
    return
  }
  expect(text.slice(start, end)).toBe(table)
}
