import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { addChangeOptions, type ChangeFlags, changeOf, reasonField } from '../../fleet/change.ts'
import { addHostFieldOptions, type HostFieldOptions, hostSpec } from '../../fleet/host-fields.ts'
import { printHostChange } from '../../fleet/print-host-change.ts'

export function addHostAdopt(host: Command, run: RunCommand): void {
  addChangeOptions(addHostFieldOptions(host.command('adopt')))
    .description('make a host of a machine that was seen, with what it said of itself')
    .argument('<mac>', 'as host seen lists it, in any spelling')
    .option('--id <host>', 'its id (default: made from the MAC)')
    .addHelpText(
      'after',
      `\nIts profile, where neither --profile nor a group gives one, is that of unknown machines.
Exits with 2 for a machine that was not seen.\n${examples(
        'pilotlight host adopt 52:54:00:00:00:01 --id rack1-n07 --profile worker --label site=edge',
      )}`,
    )
    .action((mac: string, { id, ...options }: HostFieldOptions & ChangeFlags & { readonly id?: string }) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const spec = await hostSpec(session, {}, options)
          const detail = await fleet.adoptHost(
            { mac, ...(id !== undefined && { id }), spec, ...reasonField(options) },
            changeOf(session, options),
          )
          return printHostChange(session, detail, options)
        }),
      ),
    )
}
