import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'

export function addHostExport(host: Command, run: RunCommand): void {
  host
    .command('export')
    .description('print hosts, groups and profiles that were made by command or API, as YAML')
    .option('--all', 'those of files as well', false)
    .addHelpText(
      'after',
      `\nIgnition configs that stand in a record are in it: keep the file where secrets may be.\n${examples(
        'pilotlight host export > fleet.yaml',
        'pilotlight host export --all > everything.yaml',
      )}`,
    )
    .action(({ all }: { readonly all: boolean }) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const text = await fleet.exportRecords({ all })
          session.print({ json: { text }, text: () => text })
          return exitCode.ok
        }),
      ),
    )
}
