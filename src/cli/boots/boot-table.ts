import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import { formatDuration, formatTime } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'
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

/** One line a boot; below one that has something wrong, what to do. */
export function bootTable(boots: readonly BootSummary[], style: TableStyle): string {
  return renderTable(
    columns,
    boots.map((boot) => [
      formatTime(boot.startedAt),
      bootName(boot),
      bootState(boot),
      formatDuration(boot.durationMs),
      shown(boot.release ?? '-'),
      boot.id,
      shown(boot.diagnosis === undefined ? boot.step : `${boot.diagnosis.code}: ${boot.diagnosis.text}`),
    ]),
    style,
  )
}

/** A line of `--follow`: it is read as it comes, so nothing is aligned to what is yet to come. */
export function bootLine(boot: BootSummary): string {
  const { lastAt, step, diagnosis } = boot
  const what = diagnosis === undefined ? step : `${diagnosis.code}: ${diagnosis.text} -> ${diagnosis.remedy}`
  return `${formatTime(lastAt)}  ${bootName(boot)}  ${bootState(boot)}  ${shown(what)}`
}
