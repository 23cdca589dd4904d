import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'
import {
  addChangeOptions,
  addRevisionOption,
  type ChangeFlags,
  changeWithReason,
  sayDone,
} from '../../fleet/change.ts'

export function addHostRm(host: Command, run: RunCommand): void {
  addRevisionOption(addChangeOptions(host.command('rm')))
    .description('remove a host that was made by command or API')
    .argument('<host>', 'its id')
    .addHelpText(
      'after',
      `\nIts pins stay with its MACs and are listed; pilotlight unpin removes them.\nExits with 1 for a host that stands in a file.\n${examples('pilotlight host rm rack1-n07 --reason "sold"')}`,
    )
    .action((id: string, options: ChangeFlags) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          await fleet.removeHost(id, changeWithReason(session, options))
          sayDone(session, options, `host ${id} is removed`)
          return exitCode.ok
        }),
      ),
    )
}
