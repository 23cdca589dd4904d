import type { PatternSummary } from '../../http/admin/schemas/boots.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'
import { wrapText } from '../output/wrap.ts'
import { shown, shownAdvice } from './boot-words.ts'

const columns: readonly Column[] = [
  { title: 'PATTERN' },
  { title: 'SHOWN BY', align: 'right' },
  { title: '' },
]
const usualWidth = 100
const narrowest = 30

/** Each known way in which boots go wrong, what to do, and who shows it now. */
export function patternTable(patterns: readonly PatternSummary[], style: TableStyle): string {
  const codeWidth = Math.max(...patterns.map(({ code }) => code.length), 'PATTERN'.length)
  const room = Math.max(narrowest, (style.width ?? usualWidth) - codeWidth - 'SHOWN BY'.length - 4)
  const rows = patterns.flatMap(({ code, text, remedy, machines, count }) => {
    const lines = [
      ...wrapText(shown(text), room),
      ...wrapText(`-> ${shownAdvice(remedy)}`, room),
      ...(count === 0 ? [] : wrapText(`now: ${machinesText(machines, count)}`, room)),
    ]
    return lines.map((line, index) => (index === 0 ? [code, String(count), line] : ['', '', line]))
  })
  return renderTable(columns, rows, style)
}

/** `rack1-n01, rack1-n02 and 12 others`. */
export function machinesText(machines: readonly string[], count: number): string {
  const names = machines.map(shown).join(', ')
  const others = count - machines.length
  return others > 0 ? `${names} and ${others} others` : names
}
