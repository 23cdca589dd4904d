import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { installTable } from '../fleet/install-table.ts'

export function addInstalls(program: Command, run: RunCommand): void {
  program
    .command('installs')
    .description('list where the installing of each host stands')
    .addHelpText('after', examples('pilotlight installs', 'pilotlight installs --output json'))
    .action(() =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const installs = await fleet.listInstalls()
          session.print({ json: { installs }, text: (style) => installTable(installs, style) })
          return exitCode.ok
        }),
      ),
    )
}
