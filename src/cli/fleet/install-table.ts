import type { InstallSummary } from '../../http/admin/schemas/fleet.ts'
import { formatTime } from '../output/format.ts'
import { type Column, renderFields, renderTable, type TableStyle } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'HOST' },
  { title: 'STATE' },
  { title: 'NUMBER', align: 'right' },
  { title: 'DEVICE' },
  { title: 'SCRIPTS', align: 'right' },
  { title: 'UNTIL' },
  { title: 'ARMED', canShrink: true },
  { title: 'LAST CHANGE', canShrink: true },
  { title: 'NOTE', canShrink: true },
]

export function installTable(installs: readonly InstallSummary[], style: TableStyle): string {
  return renderTable(columns, installs.map(rowOf), style)
}

/** One install, with nothing cut. */
export function installFields(install: InstallSummary): string {
  const { host, state, generation, device, serves, mostServes, until, armedAt, armedBy } = install
  return renderFields([
    ['install of', `host ${host}, number ${generation}`],
    ['state', `${state}, since ${formatTime(install.changedAt)} by ${install.changedBy}`],
    ['armed', `${formatTime(armedAt)} by ${armedBy}`],
    ...(device === undefined ? [] : [['device', device] as const]),
    ['scripts', `${serves} of ${mostServes} handed out`],
    ['until', formatTime(until)],
    ...notesOf(install).map((note) => ['note', note] as const),
  ])
}

function rowOf(install: InstallSummary): string[] {
  const { host, state, generation, device, serves, mostServes, until, armedAt, armedBy } = install
  return [
    host,
    state,
    String(generation),
    device ?? '-',
    `${serves} of ${mostServes}`,
    formatTime(until),
    `${formatTime(armedAt)} by ${armedBy}`,
    `${formatTime(install.changedAt)} by ${install.changedBy}`,
    notesOf(install).join('; '),
  ]
}

function notesOf({ reason, failure }: InstallSummary): readonly string[] {
  const failed =
    failure === undefined ? [] : [`failed at ${formatTime(failure.at)}: ${failure.message ?? 'no message'}`]
  return [...failed, ...(reason === undefined ? [] : [reason])]
}
