import type { ReportSummary } from '../../http/admin/schemas/fleet.ts'
import { formatTime } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'

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
