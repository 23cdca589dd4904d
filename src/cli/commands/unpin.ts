import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addChangeOptions, type ChangeFlags, changeOf, reasonField, sayDone } from '../fleet/change.ts'
import { addGroupOption, type TargetOptions, targetOf, targetText } from '../fleet/target.ts'
import { readArch } from '../read-arch.ts'

export function addUnpin(program: Command, run: RunCommand): void {
  addChangeOptions(addGroupOption(program.command('unpin')))
    .description('take a pin away that was set by command or API')
    .argument('[host]', 'id of the host')
    .option('--arch <arch>', 'the pin for this architecture alone')
    .addHelpText(
      'after',
      `\nExits with 2 when there is no such pin; one that stands in a file goes when it is taken out there.\n${examples(
        'pilotlight unpin rack1-n01',
        'pilotlight unpin --group edge --reason "fixed in 45"',
      )}`,
    )
    .action((host: string | undefined, options: TargetOptions & ChangeFlags & { readonly arch?: string }) =>
      run((session) => {
        const target = targetOf(host, options)
        const arch = options.arch === undefined ? {} : { arch: readArch(options.arch) }
        return session.withOperations(async ({ fleet }) => {
          await fleet.removePin({ target, ...arch, ...reasonField(options) }, changeOf(session, options))
          sayDone(session, options, `the pin of ${targetText(target)} is taken away`)
          return exitCode.ok
        })
      }),
    )
}
