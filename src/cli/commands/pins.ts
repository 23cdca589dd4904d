import type { Command } from 'commander'
import type { PinQuery } from '../../http/admin/schemas/fleet.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../fleet/pages.ts'
import { pinTable } from '../fleet/pin-table.ts'

export function addPins(program: Command, run: RunCommand): void {
  addLimitOption(program.command('pins'))
    .description('list the pins: for whom, to which release, since when and why, and whether it is here')
    .option('--host <id>', 'of this host')
    .option('--group <name>', 'of this group')
    .option('--stream <name>', 'of this stream')
    .option('--release <release>', 'to this release')
    .addHelpText('after', examples('pilotlight pins', 'pilotlight pins --stream fcos-stable --output json'))
    .action(({ limit, ...filters }: Omit<PinQuery, 'limit' | 'after'> & ListOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: pins, total } = await gatherPages(
            (page) => fleet.listPins({ ...filters, ...page }),
            limit === undefined ? {} : { limit },
          )
          session.print({
            json: { pins, total },
            text: (style) => `${pinTable(pins, style)}${restText(pins.length, total, 'pin')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}
