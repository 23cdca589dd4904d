import type { Command } from 'commander'
import { examples, type RunCommand } from '../../command.ts'
import {
  addChangeOptions,
  addRevisionOption,
  type ChangeFlags,
  changeOf,
  reasonField,
} from '../../fleet/change.ts'
import { addHostFieldOptions, type HostFieldOptions, hostSpec } from '../../fleet/host-fields.ts'
import { printHostChange } from '../../fleet/print-host-change.ts'
import { shownRecord } from '../../fleet/spec.ts'

export function addHostSet(host: Command, run: RunCommand): void {
  addRevisionOption(addChangeOptions(addHostFieldOptions(host.command('set'))))
    .description('change fields of a host that was made by command or API')
    .argument('<host>', 'its id')
    .addHelpText(
      'after',
      `\nWith --file the record is replaced, else what is not named stays as it is.\nExits with 1 for a host that stands in a file, 75 when somebody changed it meanwhile.\n${examples(
        'pilotlight host set rack1-n07 --set stream=fcos-testing',
        'pilotlight host set rack1-n07 --unset stream --label site=core',
      )}`,
    )
    .action((id: string, options: HostFieldOptions & ChangeFlags) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { before, ...seen } = shownRecord(await fleet.showHost(id), options)
          const spec = await hostSpec(session, before, options)
          const change = changeOf(session, { ...seen, ...options })
          return printHostChange(
            session,
            await fleet.putHost(id, { spec, ...reasonField(options) }, change),
            options,
          )
        }),
      ),
    )
}
