import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { renderFields } from '../output/table.ts'

export function addVersion(program: Command, run: RunCommand): void {
  program
    .command('version')
    .description('print the version of this program and of Node.js')
    .addHelpText('after', examples('pilotlight version', 'pilotlight version --output json'))
    .action(() =>
      run(async (session) => {
        const { version } = session.context
        session.print({
          json: { version, node: process.versions.node },
          text: () =>
            renderFields([
              ['pilotlight', version],
              ['node', process.versions.node],
            ]),
        })
        return exitCode.ok
      }),
    )
}
