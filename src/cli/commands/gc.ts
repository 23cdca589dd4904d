import type { Command } from 'commander'
import type { GcReport } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { count, formatBytes } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'SHA256' },
  { title: 'SIZE', align: 'right' },
  { title: 'WHY', canShrink: true },
]

export function addGc(program: Command, run: RunCommand): void {
  program
    .command('gc')
    .description(
      'remove cached files that nothing needs; never what is current, previous, pinned or being booted',
    )
    .option('--dry-run', 'only say what would be removed', false)
    .addHelpText(
      'after',
      `\nExits with 75 when nothing may be removed yet.\n${examples('pilotlight gc --dry-run', 'pilotlight gc')}`,
    )
    .action(({ dryRun }: { dryRun: boolean }) =>
      run((session) =>
        session.withOperations(async (operations) => {
          const report = await operations.gc({ dryRun })
          session.print({ json: report, text: (style) => reportText(report, style) })
          return report.postponed === undefined ? exitCode.ok : exitCode.tryAgain
        }),
      ),
    )
}

function reportText({ dryRun, removed, freedBytes, kept, postponed }: GcReport, style: TableStyle): string {
  const rows = removed.map(({ sha256, sizeBytes, why }) => [sha256, formatBytes(sizeBytes), why])
  const table = rows.length === 0 ? '' : `${renderTable(columns, rows, style)}\n`
  const verb = dryRun ? 'would be removed' : 'removed'
  const summary = `${count(removed.length, 'file')} ${verb} (${formatBytes(freedBytes)}), ${kept} kept\n`
  return `${table}${summary}${postponed === undefined ? '' : `postponed: ${postponed}\n`}`
}
