import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import { formatDuration, formatTime } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'
import { wrapText } from '../output/wrap.ts'
import { bootName, bootState, shown } from './boot-words.ts'

const columns: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'MACHINE' },
  { title: 'STATE' },
  { title: 'TOOK', align: 'right' },
  { title: 'RELEASE' },
  { title: 'BOOT' },
  { title: 'LAST STEP', canShrink: true },
]

/** Below this, columns are no help. */
const narrow = 60

/** One line a boot; on a narrow terminal a few, none of them wider than it. */
export function bootTable(boots: readonly BootSummary[], style: TableStyle): string {
  const { width } = style
  if (width !== undefined && width < narrow) return boots.map((boot) => bootCard(boot, width)).join('\n')
  return renderTable(
    columns,
    boots.map((boot) => [
      formatTime(boot.startedAt),
      bootName(boot),
      bootState(boot),
      formatDuration(boot.durationMs),
      shown(boot.release ?? '-'),
      boot.id,
      lastStep(boot),
    ]),
    style,
  )
}

function lastStep({ step, diagnosis }: BootSummary): string {
  return shown(diagnosis === undefined ? step : `${diagnosis.code}: ${diagnosis.text}`)
}

function bootCard(boot: BootSummary, width: number): string {
  const lines = [
    bootName(boot),
    `${bootState(boot)}, ${formatDuration(boot.durationMs)}`,
    formatTime(boot.startedAt),
    ...(boot.release === undefined ? [] : [shown(boot.release)]),
    boot.id,
    lastStep(boot),
  ]
  return lines.flatMap((line) => wrapText(line, width).map((part) => `${part}\n`)).join('')
}

/** A line of `--follow`: it is read as it comes, so nothing is aligned to what is yet to come. */
export function bootLine(boot: BootSummary): string {
  const { lastAt, step, diagnosis } = boot
  const what = diagnosis === undefined ? step : `${diagnosis.code}: ${diagnosis.text} -> ${diagnosis.remedy}`
  return `${formatTime(lastAt)}  ${bootName(boot)}  ${bootState(boot)}  ${shown(what)}`
}
