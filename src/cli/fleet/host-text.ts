import { stringify } from 'yaml'
import type { HostDetail } from '../../http/admin/schemas/fleet.ts'
import { bootTable } from '../boots/boot-table.ts'
import { formatTime } from '../output/format.ts'
import { renderFields, renderTable, type TableStyle } from '../output/table.ts'
import { installFields } from './install-table.ts'
import { pinTable } from './pin-table.ts'
import { reportTable } from './report-table.ts'

/**
 * All that is known of a host, the way an admin asks for it: what it would boot and why, what it is, each value with
 * its origin, what was set at run time, and what it did last.
 */
export function hostText(host: HostDetail, style: TableStyle): string {
  const { reasons, values, pins, install, boots, reports, spec } = host
  const valueRows = values.map(({ field, value, origin }) => [field, value === '' ? '-' : value, origin])
  return [
    renderFields(factsOf(host)),
    ...host.flags.map((flag) => `attention: ${flag}\n`),
    section('', reasons, () =>
      renderTable(
        [{ title: 'REASON' }, { title: '' }],
        reasons.map(({ code, text }) => [code, text]),
        style,
      ),
    ),
    section('', values, () =>
      renderTable([{ title: 'VALUE' }, { title: '' }, { title: 'FROM' }], valueRows, style),
    ),
    section('Pins:', pins, () => pinTable(pins, style)),
    install === undefined ? '' : installFields(install),
    section('Last boots:', boots, () => bootTable(boots, style)),
    section('Last reports:', reports, () => reportTable(reports, style)),
    section('Record:', spec === undefined ? [] : [spec], ([record]) => stringify(record)),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function section<T>(title: string, rows: readonly T[], text: (rows: readonly T[]) => string): string {
  return rows.length === 0 ? '' : `${title === '' ? '' : `${title}\n`}${text(rows)}`
}

function factsOf(host: HostDetail): readonly (readonly [string, string])[] {
  const { labels, groups, runTimeMode } = host
  const facts = {
    host: host.id,
    decision: host.decision,
    release: host.release,
    stream: host.stream,
    profile: host.profile,
    groups: groups.join(', '),
    labels: Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    MACs: host.macs.join(', '),
    UUID: host.uuid,
    serial: host.serial,
    arch: host.arch,
    address: host.address,
    'host name': host.hostName,
    mode: runTimeMode === undefined ? host.mode : modeText(runTimeMode),
    'last seen': host.lastSeenAt === undefined ? 'never' : formatTime(host.lastSeenAt),
    'declared in': host.origin,
    revision: host.revision === undefined ? undefined : String(host.revision),
  }
  return Object.entries(facts).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  )
}

function modeText({ mode, by, at, reason, until }: NonNullable<HostDetail['runTimeMode']>): string {
  return [
    `${mode}, set by ${by} at ${formatTime(at)}`,
    ...(until === undefined ? [] : [`until ${formatTime(until)}`]),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ')
}
