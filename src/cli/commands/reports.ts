import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../fleet/pages.ts'
import { reportTable } from '../fleet/report-table.ts'

interface ReportsOptions extends ListOptions {
  readonly host?: string
  readonly boot?: string
}

export function addReports(program: Command, run: RunCommand): void {
  addLimitOption(program.command('reports'), 50)
    .description('list what machines said of their own boots: booted, installed or failed')
    .option('--host <id>', 'of this host')
    .option('--boot <id>', 'of this boot')
    .addHelpText('after', examples('pilotlight reports', 'pilotlight reports --host rack1-n01'))
    .action(({ limit, ...filters }: ReportsOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: reports, total } = await gatherPages(
            (page) => fleet.listReports({ ...filters, ...page }),
            limit === undefined ? {} : { limit },
          )
          session.print({
            json: { reports, total },
            text: (style) => `${reportTable(reports, style)}${restText(reports.length, total, 'report')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}
