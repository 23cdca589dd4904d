import type { Command } from 'commander'
import { configReference, describeConfig, valueText } from '../../config/describe-config.ts'
import { jsonSchemas } from '../../config/json-schema.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import { type ConfigProblem, configInvalid, problemText } from '../../config/problem.ts'
import { isServiceError } from '../../core/errors.ts'
import { examples, type RunCommand } from '../command.ts'
import { type ExitCode, exitCode } from '../exit-codes.ts'
import { count } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'
import type { Session } from '../session.ts'
import { addSettingOptions } from '../settings.ts'

const columns: readonly Column[] = [{ title: 'KEY' }, { title: 'VALUE', canShrink: true }, { title: 'FROM' }]

export function addConfig(program: Command, run: RunCommand): void {
  const config = program
    .command('config')
    .description('check, show and explain the configuration')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', examples('pilotlight config check', 'pilotlight config reference | less'))

  addSettingOptions(config.command('check'))
    .description('read everything and report every mistake with file, line and column')
    .addHelpText(
      'after',
      `\nExits with 78 when there is a mistake.\n${examples(
        'pilotlight config check',
        'pilotlight config check --config new.yaml --output json',
      )}`,
    )
    .action((settings: object) => run(check, settings))

  addSettingOptions(config.command('show'))
    .description('print every value with the place it came from; secrets are hidden')
    .addHelpText(
      'after',
      examples('pilotlight config show', 'pilotlight config show --boot-http-listen :8080'),
    )
    .action((settings: object) =>
      run(async (session) => {
        const values = describeConfig(session.loadConfig())
        session.print({
          json: { values },
          text: (style) =>
            renderTable(
              columns,
              values.map(({ path, value, origin }) => [path, valueText(value), origin]),
              style,
            ),
        })
        return exitCode.ok
      }, settings),
    )

  config
    .command('reference')
    .description('print every key of the configuration, as Markdown; with --output json as JSON schemas')
    .addHelpText('after', examples('pilotlight config reference | less'))
    .action(() =>
      run(async (session) => {
        session.print({ json: jsonSchemas(), text: configReference })
        return exitCode.ok
      }),
    )
}

async function check(session: Session): Promise<ExitCode> {
  const found = loadOrProblems(session)
  if ('problems' in found) return refuse(session, found.error, found.problems)
  const { loaded } = found
  const { warnings } = loaded
  for (const warning of warnings) session.say(`warning: ${problemText(warning)}`)
  const ofKernels = await kernelProblems(session, loaded)
  if (ofKernels.length > 0) return refuse(session, configInvalid(ofKernels, loaded.files), ofKernels)
  session.print({
    json: { ok: true, file: session.configFile ?? null, problems: [], warnings },
    text: () => summaryOf(session, loaded),
  })
  return exitCode.ok
}

/** As a table it is an error like any other. @throws the error */
function refuse(session: Session, error: Error, problems: readonly ConfigProblem[]): ExitCode {
  if (session.globals.output === 'table') throw error
  session.print({ json: { ok: false, problems, warnings: [] }, text: () => '' })
  return exitCode.config
}

/** What shows only in the data: nothing is said of it where there is none yet. */
async function kernelProblems(session: Session, loaded: LoadedConfig): Promise<readonly ConfigProblem[]> {
  const streams = [...loaded.config.streams.values()]
  if (!streams.some(({ loaderSet }) => loaderSet !== undefined)) return []
  const { runtime } = session.context
  try {
    return await session.withOperations((operations) => runtime.checkKernels({ loaded, operations }))
  } catch (error) {
    if (!isServiceError(error)) throw error
    session.say(`not checked: whether loader sets start the kernels of their streams (${error.message})`)
    return []
  }
}

function loadOrProblems(
  session: Session,
):
  | { readonly loaded: LoadedConfig }
  | { readonly error: Error; readonly problems: readonly ConfigProblem[] } {
  try {
    return { loaded: session.loadConfig() }
  } catch (error) {
    if (!isServiceError(error, 'CONFIG_INVALID')) throw error
    return { error, problems: error.details.problems as readonly ConfigProblem[] }
  }
}

function summaryOf({ configFile }: Session, { config, inventory, hosts }: LoadedConfig): string {
  const parts = [
    count(config.streams.size, 'stream'),
    count(inventory.profiles.size, 'profile'),
    count(inventory.groups.length, 'group'),
    `${count(inventory.hostsById.size, 'host')} in ${count(hosts.files.length, 'file')}`,
  ]
  return `${configFile ?? 'no file, defaults'}: no mistakes; ${parts.join(', ')}\n`
}
