import { visibleText } from '../../core/visible-text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** May be cut when the terminal is too narrow. */
  readonly canShrink?: boolean
}

export interface TableStyle {
  /** Characters of the terminal; absent: nobody looks, nothing is cut. */
  readonly width?: number
  readonly color: boolean
}

const gap = '  '
const narrowest = 8

/**
 * Rows under headings, aligned, without lines around. Cells are made visible (no escape sequences from documents or
 * clients), and a cell never breaks its line.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: TableStyle,
): string {
  const cells = rows.map((row) => columns.map((_, index) => visibleText(row[index] ?? '')))
  const widths = columns.map(({ title }, index) =>
    Math.max(length(title), ...cells.map((row) => length(row[index] ?? ''))),
  )
  if (style.width !== undefined) shrink(widths, columns, style.width)

  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => fit(cell, widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join(gap)
      .trimEnd()
  const heading = line(columns.map(({ title }) => title))
  return [style.color ? `\u001b[1m${heading}\u001b[0m` : heading, ...cells.map(line)].join('\n').concat('\n')
}

/** Names and values below each other, as in `explain`. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => length(name)))
  return fields.map(([name, value]) => `${name.padEnd(width)}${gap}${visibleText(value)}\n`).join('')
}

function length(text: string): number {
  return [...text].length
}

function fit(text: string, width: number, align: 'left' | 'right'): string {
  const characters = [...text]
  if (characters.length > width) return `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
  const padding = ' '.repeat(width - characters.length)
  return align === 'right' ? padding + text : text + padding
}

/** Takes what is too much from the widest column that may be cut, again and again. */
function shrink(widths: number[], columns: readonly Column[], available: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1) - available
  while (excess > 0) {
    const candidates = widths
      .map((width, index) => ({ width, index }))
      .filter(({ width, index }) => columns[index]?.canShrink === true && width > narrowest)
      .sort((a, b) => b.width - a.width)
    const [widest, next] = candidates
    if (widest === undefined) return
    const step = Math.min(excess, widest.width - Math.max(next?.width ?? narrowest, narrowest) || 1)
    widths[widest.index] = widest.width - step
    excess -= step
  }
}
