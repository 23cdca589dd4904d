import type { BootSummary, ReportSummary } from '../../http/admin/schemas/fleet.ts'
import { formatTime } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'

const bootColumns: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'LAST SEEN' },
  { title: 'HOST' },
  { title: 'MAC' },
  { title: 'RELEASE' },
  { title: 'STATE' },
  { title: 'BOOT' },
]

export function bootTable(boots: readonly BootSummary[], style: TableStyle): string {
  return renderTable(
    bootColumns,
    boots.map(({ startedAt, lastSeenAt, host, mac, release, bootimage, isOver, bootId }) => [
      formatTime(startedAt),
      formatTime(lastSeenAt),
      host ?? '-',
      mac ?? '-',
      release ?? bootimage,
      isOver ? 'over' : 'going on',
      bootId,
    ]),
    style,
  )
}

const reportColumns: readonly Column[] = [
  { title: 'AT' },
  { title: 'SAYS' },
  { title: 'HOST' },
  { title: 'OS VERSION' },
  { title: 'ADDRESS' },
  { title: 'MACHINE ID' },
  { title: 'MESSAGE', canShrink: true },
  { title: 'BOOT' },
]

export function reportTable(reports: readonly ReportSummary[], style: TableStyle): string {
  return renderTable(
    reportColumns,
    reports.map(({ at, status, host, mac, osVersion, address, machineId, message, bootId }) => [
      formatTime(at),
      status,
      host ?? mac ?? '-',
      osVersion ?? '-',
      address ?? '-',
      machineId ?? '-',
      message ?? '',
      bootId,
    ]),
    style,
  )
}
