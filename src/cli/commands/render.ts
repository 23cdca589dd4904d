import { type Command, Option } from 'commander'
import {
  type RenderDialect,
  type RenderTemplate,
  renderDialects,
  renderTemplates,
} from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addMachineOptions, type MachineOptions, machineQuery } from '../machine-options.ts'

interface RenderOptions extends MachineOptions {
  readonly dialect: RenderDialect
  readonly template?: RenderTemplate
  readonly baseUrl?: string
}

export function addRender(program: Command, run: RunCommand): void {
  addMachineOptions(program.command('render'))
    .description('print the script that a machine would get now')
    .addOption(
      new Option('--dialect <name>', 'the loader that reads it').choices(renderDialects).default('ipxe'),
    )
    .addOption(
      new Option(
        '--template <name>',
        'as if that had been decided; entry: the script that is loaded first',
      ).choices(renderTemplates),
    )
    .option('--base-url <url>', 'put into the script as our own address (default: the configured one)')
    .addHelpText(
      'after',
      `\nA script printed here is never served: its boot id is unknown to the service.\n${examples(
        'pilotlight render --mac 52:54:00:ab:cd:ef --arch x86_64',
        'pilotlight render --host rack1-n01 --platform pcbios --template install',
        'pilotlight render --host rack1-n01 --dialect grub',
      )}`,
    )
    .action(({ dialect, template, baseUrl, ...machine }: RenderOptions) =>
      run((session) => {
        const query = machineQuery(machine, { isOptional: template === 'entry' })
        return session.withOperations(async (operations) => {
          const script = await operations.render({
            ...query,
            dialect,
            ...(template !== undefined && { template }),
            ...(baseUrl !== undefined && { baseUrl }),
          })
          session.print({ json: { script }, text: () => script })
          return exitCode.ok
        })
      }),
    )
}
