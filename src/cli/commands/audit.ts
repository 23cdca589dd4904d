import type { Command } from 'commander'
import type { AuditQuery } from '../../http/admin/schemas/fleet.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../fleet/pages.ts'
import { formatTime } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'AT' },
  { title: 'BY' },
  { title: 'VIA' },
  { title: 'ACTION' },
  { title: 'TARGET' },
  { title: 'WHAT', canShrink: true },
  { title: 'REASON', canShrink: true },
]

export function addAudit(program: Command, run: RunCommand): void {
  addLimitOption(program.command('audit'), 50)
    .description('list the changes, the last one first: what, by whom, when and why')
    .option('--target <what>', 'host/<id>, group/<name>, profile/<name>, token/<name>')
    .option('--by <who>', 'by this hand, as the list shows it')
    .option('--action <action>', 'such as pin.set or install.arm')
    .option('--since <time>', 'not before: 2026-12-31, 2026-12-31T18:00:00Z or 48h ago as 48h')
    .addHelpText('after', examples('pilotlight audit', 'pilotlight audit --target host/rack1-n01 --limit 10'))
    .action(({ limit, ...filters }: Omit<AuditQuery, 'limit' | 'after'> & ListOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: entries, total } = await gatherPages(
            (page) => fleet.listAudit({ ...filters, ...page }),
            limit === undefined ? {} : { limit },
          )
          const rows = entries.map(({ at, by, via, action, target, summary, reason }) => [
            formatTime(at),
            by,
            via,
            action,
            target,
            summary,
            reason ?? '',
          ])
          session.print({
            json: { entries, total },
            text: (style) => `${renderTable(columns, rows, style)}${restText(rows.length, total, 'change')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}
