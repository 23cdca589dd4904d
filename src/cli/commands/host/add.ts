import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import { addChangeOptions, type ChangeFlags, changeOf, reasonField } from '../../fleet/change.ts'
import { addHostFieldOptions, type HostFieldOptions, hostSpec } from '../../fleet/host-fields.ts'
import { printHostChange } from '../../fleet/print-host-change.ts'

export function addHostAdd(host: Command, run: RunCommand): void {
  addChangeOptions(addHostFieldOptions(host.command('add')))
    .description('make a host')
    .argument('<host>', 'its id: what pins and history refer to')
    .addHelpText(
      'after',
      `\nThe fields are those of a host in a file of hosts.d; pilotlight config reference describes them.\nExits with 1 when there is such a host already, or another one has its MAC, UUID or serial.\n${examples(
        'pilotlight host add rack1-n07 --mac 52:54:00:00:00:07 --label site=edge --profile worker',
        "pilotlight host add rack1-n08 --mac 52-54-00-00-00-08 --set 'kernelArguments=[console=ttyS0]'",
        'pilotlight host add rack1-n09 --file n09.yaml --dry-run',
      )}`,
    )
    .action((id: string, options: HostFieldOptions & ChangeFlags) =>
      run((session) =>
        session.withOperations(
          async ({ fleet }) => {
            const spec = await hostSpec(session, {}, options)
            // There must be none yet: `host set` is for changes.
            const change = changeOf(session, { ...options, ifRevision: 0 })
            return printHostChange(
              session,
              await fleet.putHost(id, { spec, ...reasonField(options) }, change),
              options,
            )
          },
          { mayCreate: !options.dryRun },
        ),
      ),
    )
}
