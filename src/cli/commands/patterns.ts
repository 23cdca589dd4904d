import type { Command } from 'commander'
import { patternTable } from '../boots/pattern-table.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'

export function addPatterns(program: Command, run: RunCommand): void {
  program
    .command('patterns')
    .description('list the known ways in which boots go wrong, what to do, and which machines show each now')
    .addHelpText('after', examples('pilotlight patterns', 'pilotlight boots --pattern loader-loop'))
    .action(() =>
      run((session) =>
        session.withOperations(async ({ boots }) => {
          const patterns = await boots.listPatterns()
          session.print({ json: { patterns }, text: (style) => patternTable(patterns, style) })
          return exitCode.ok
        }),
      ),
    )
}
