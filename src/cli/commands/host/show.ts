import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'
import { hostText } from '../../fleet/host-text.ts'

export function addHostShow(host: Command, run: RunCommand): void {
  host
    .command('show')
    .description(
      'show a host: what it boots and why, each value with its origin, pins, install, boots, reports',
    )
    .argument('<host>', 'its id')
    .addHelpText(
      'after',
      `\nExits with 2 for a host that is not known.\n${examples('pilotlight host show rack1-n01', 'pilotlight host show rack1-n01 --output json')}`,
    )
    .action((id: string) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const detail = await fleet.showHost(id)
          session.print({ json: detail, text: (style) => hostText(detail, style) })
          return exitCode.ok
        }),
      ),
    )
}
