import type { Command } from 'commander'
import { originProblem } from '../../config/web-url.ts'
import { ServiceError } from '../../core/errors.ts'
import {
  type RenderDialect,
  type RenderTemplate,
  renderDialects,
  renderTemplates,
} from '../../http/admin/schemas/service.ts'
import { choiceOption, examples, type RunCommand } from '../command.ts'
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
    .addOption(choiceOption('--dialect <name>', 'the loader that reads it', renderDialects).default('ipxe'))
    .addOption(
      choiceOption(
        '--template <name>',
        'as if that had been decided; entry: the script that is loaded first',
        renderTemplates,
      ),
    )
    .option('--base-url <url>', 'put into the script as our own address (default: the configured one)')
    .addHelpText(
      'after',
      `\nA script printed here is never served: its boot id is unknown to the service.\nExits with 1 when this loader cannot do it, 2 for a host that is not known.\n${examples(
        'pilotlight render --mac 52:54:00:ab:cd:ef --arch x86_64',
        'pilotlight render --host rack1-n01 --platform pcbios --template install',
        'pilotlight render --host rack1-n01 --dialect grub',
      )}`,
    )
    .action(({ dialect, template, baseUrl, ...machine }: RenderOptions) =>
      run((session) => {
        const query = machineQuery(machine, { isOptional: template === 'entry' })
        if (baseUrl !== undefined) checkBaseUrl(baseUrl)
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

/** @throws ServiceError USAGE for what cannot stand at the beginning of a URL in a script */
function checkBaseUrl(text: string): void {
  const problem = originProblem(text) ?? (text.endsWith('/') ? 'it ends with a slash' : undefined)
  if (problem === undefined) return
  throw new ServiceError('USAGE', `--base-url ${text}: ${problem}`, {
    field: 'baseUrl',
    hint: 'allowed: a scheme, host and port such as http://192.0.2.10:8080',
  })
}
