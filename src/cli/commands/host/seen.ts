import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../../fleet/pages.ts'
import { formatAge } from '../../output/format.ts'
import { type Column, renderTable } from '../../output/table.ts'

const columns: readonly Column[] = [
  { title: 'MAC' },
  { title: 'LAST SEEN' },
  { title: 'TIMES', align: 'right' },
  { title: 'ARCH' },
  { title: 'FIRMWARE' },
  { title: 'ADDRESS' },
  { title: 'WAS TOLD' },
  { title: 'SERIAL', canShrink: true },
  { title: 'UUID' },
]

export function addHostSeen(host: Command, run: RunCommand): void {
  addLimitOption(host.command('seen'))
    .description('list machines that asked and that no record matches, with what they said')
    .addHelpText(
      'after',
      examples('pilotlight host seen', 'pilotlight host adopt 52:54:00:00:00:01 --profile worker'),
    )
    .action((options: ListOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: machines, total } = await gatherPages((page) => fleet.listSeen(page), options)
          const now = session.context.now()
          const rows = machines.map((machine) => [
            machine.mac,
            formatAge(machine.lastSeenAt, now),
            String(machine.count),
            machine.arch ?? '-',
            machine.firmware ?? '-',
            machine.address ?? '-',
            machine.decision ?? '-',
            machine.serial ?? '-',
            machine.uuid ?? '-',
          ])
          session.print({
            json: { machines, total },
            text: (style) => `${renderTable(columns, rows, style)}${restText(rows.length, total, 'machine')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}
