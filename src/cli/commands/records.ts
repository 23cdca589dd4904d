import type { Command } from 'commander'
import { stringify } from 'yaml'
import { isServiceError } from '../../core/errors.ts'
import type { GroupOrProfile } from '../../http/admin/fleet-operations.ts'
import type { RecordSummary } from '../../http/admin/schemas/fleet.ts'
import { type AddCommand, examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import {
  addChangeOptions,
  addRevisionOption,
  type ChangeFlags,
  changeOf,
  changeWithReason,
  dryRunMark,
  reasonField,
  sayDone,
} from '../fleet/change.ts'
import { addSpecOptions, type SpecOptions, shownRecord, specFrom } from '../fleet/spec.ts'
import { type Column, renderFields, renderTable } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'NAME' },
  { title: 'HOSTS', align: 'right' },
  { title: 'SAYS', canShrink: true },
  { title: 'FROM', canShrink: true },
]

interface Kind {
  readonly kind: GroupOrProfile
  /** What it is, in the description of its commands. */
  readonly what: string
  readonly setExample: string
}

export const addGroup: AddCommand = (program, run) =>
  addRecords(program, run, {
    kind: 'group',
    what: 'which hosts belong together, by their labels, and what they get',
    setExample: 'pilotlight group set edge --set match.labels.site=edge --set profile=worker',
  })

export const addProfile: AddCommand = (program, run) =>
  addRecords(program, run, {
    kind: 'profile',
    what: 'what a machine gets: stream, mode, kernel arguments, Ignition, loader',
    setExample:
      "pilotlight profile set worker --set stream=fcos-stable --set 'kernelArguments=[console=ttyS0]'",
  })

/** Groups and profiles have the same verbs, because they are the same to an admin: a name and what it says. */
function addRecords(program: Command, run: RunCommand, { kind, what, setExample }: Kind): void {
  const parent = program
    .command(kind)
    .description(`list, show, set and remove ${kind}s: ${what}`)
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', examples(`pilotlight ${kind} list`, setExample))

  parent
    .command('list')
    .description(`list the ${kind}s`)
    .addHelpText('after', examples(`pilotlight ${kind} list`))
    .action(() =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const records = await fleet.listRecords(kind)
          session.print({
            json: { [`${kind}s`]: records },
            text: (style) => renderTable(columns, records.map(rowOf), style),
          })
          return exitCode.ok
        }),
      ),
    )

  parent
    .command('show')
    .description(`show a ${kind}`)
    .argument('<name>', 'its name')
    .addHelpText('after', examples(`pilotlight ${kind} show ${kind === 'group' ? 'edge' : 'worker'}`))
    .action((name: string) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const record = await fleet.showRecord(kind, name)
          session.print({ json: record, text: () => recordText(record) })
          return exitCode.ok
        }),
      ),
    )

  addRevisionOption(addChangeOptions(addSpecOptions(parent.command('set'))))
    .description(`make a ${kind}, or change fields of one that was made by command or API`)
    .argument('<name>', 'its name')
    .addHelpText(
      'after',
      `\nWith --file it is replaced, else what is not named stays as it is.\nExits with 1 for one that stands in a file, 75 when somebody changed it meanwhile.\n${examples(setExample)}`,
    )
    .action((name: string, options: SpecOptions & ChangeFlags) =>
      run((session) =>
        session.withOperations(
          async ({ fleet }) => {
            const shown = await fleet.showRecord(kind, name).catch((error: unknown) => {
              if (isServiceError(error, 'NOT_FOUND')) return undefined
              throw error
            })
            const { before, ...seen } = shownRecord(shown ?? { revision: 0 }, options)
            const spec = await specFrom(session, before, options)
            const change = changeOf(session, { ...seen, ...options })
            const record = await fleet.putRecord(kind, name, { spec, ...reasonField(options) }, change)
            if (options.dryRun) session.say(dryRunMark)
            session.print({ json: record, text: () => recordText(record) })
            return exitCode.ok
          },
          { mayCreate: !options.dryRun },
        ),
      ),
    )

  addRevisionOption(addChangeOptions(parent.command('rm')))
    .description(`remove a ${kind} that was made by command or API`)
    .argument('<name>', 'its name')
    .addHelpText('after', examples(`pilotlight ${kind} rm old --reason "nobody uses it"`))
    .action((name: string, options: ChangeFlags) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          await fleet.removeRecord(kind, name, changeWithReason(session, options))
          sayDone(session, options, `${kind} ${name} is removed`)
          return exitCode.ok
        }),
      ),
    )
}

function rowOf({ name, hosts, spec, origin }: RecordSummary): string[] {
  return [name, String(hosts), JSON.stringify(spec), origin]
}

function recordText({ kind, name, origin, revision, hosts, spec }: RecordSummary): string {
  const facts = renderFields([
    [kind, name],
    ['hosts', String(hosts)],
    ['declared in', origin],
    ...(revision === undefined ? [] : [['revision', String(revision)] as const]),
  ])
  return `${facts}\n${stringify(spec)}`
}
