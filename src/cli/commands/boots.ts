import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { bootTable } from '../fleet/boot-tables.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../fleet/pages.ts'

interface BootsOptions extends ListOptions {
  readonly host?: string
  readonly mac?: string
}

export function addBoots(program: Command, run: RunCommand): void {
  addLimitOption(program.command('boots'), 50)
    .description('list the last boots: which machine, which release, since when')
    .option('--host <id>', 'of this host')
    .option('--mac <address>', 'of this network card')
    .addHelpText('after', examples('pilotlight boots', 'pilotlight boots --host rack1-n01'))
    .action(({ limit, ...filters }: BootsOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: boots, total } = await gatherPages(
            (page) => fleet.listBoots({ ...filters, ...page }),
            limit === undefined ? {} : { limit },
          )
          session.print({
            json: { boots, total },
            text: (style) => `${bootTable(boots, style)}${restText(boots.length, total, 'boot')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}
