import type { Command } from 'commander'
import { attemptOutcomes, attemptStates } from '../../core/boot-attempt.ts'
import { bootPatternCodes } from '../../core/boot-pattern.ts'
import { bootNews } from '../boots/boot-news.ts'
import { bootLine, bootTable } from '../boots/boot-table.ts'
import { bootText } from '../boots/boot-text.ts'
import { type BootFilters, followBoots } from '../boots/follow-boots.ts'
import { readMoment } from '../boots/read-moment.ts'
import { choiceOption, examples, type RunCommand } from '../command.ts'
import { exitCode, interruptionExitCode } from '../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../fleet/pages.ts'
import type { Session } from '../session.ts'

interface BootsOptions extends ListOptions, BootFilters {
  readonly follow: boolean
}

export function addBoots(program: Command, run: RunCommand): void {
  const boots = addLimitOption(program.command('boots'), 50)
  addShow(boots, run)
  boots
    .description('list boots, newest first: which machine, how far it came, what is wrong; or follow them')
    .option('--host <id>', 'of this host')
    .option('--mac <address>', 'of this network card')
    .addOption(choiceOption('--state <state>', 'in this state', attemptStates))
    .addOption(choiceOption('--outcome <outcome>', 'that ended so', attemptOutcomes))
    .addOption(choiceOption('--pattern <code>', 'with this diagnosis', bootPatternCodes))
    .option('--since <when>', 'that began since: a time, or how long ago (2h)')
    .option('-f, --follow', 'show boots as they move, until Ctrl-C', false)
    .addHelpText(
      'after',
      `
--follow needs the running service, shows the boots that go on, then each one that moves, and outlives a restart of
the service. With --output json it prints one object a line. Ctrl-C ends it with 130.
${examples(
  'pilotlight boots',
  'pilotlight boots --host rack1-n01 --since 7d',
  'pilotlight boots --state stuck',
  'pilotlight boots --follow',
  'pilotlight boots show rack1-n01',
)}`,
    )
    .action(({ limit, follow, since, ...filters }: BootsOptions) =>
      run((session) => {
        const from = since === undefined ? undefined : readMoment(since, session.context.now())
        const wanted = { ...filters, ...(from !== undefined && { since: new Date(from).toISOString() }) }
        return follow
          ? followAll(session, wanted)
          : listAll(session, wanted, limit === undefined ? {} : { limit })
      }),
    )
}

function addShow(boots: Command, run: RunCommand): void {
  boots
    .command('show')
    .description(
      'show one boot: every step with its time, how long each phase took, what is wrong and what to do',
    )
    .argument('<boot>', 'its id, or a MAC or host for its last one')
    .addHelpText(
      'after',
      `\nExits with 2 when no such boot is known.\n${examples(
        'pilotlight boots show rack1-n01',
        'pilotlight boots show 52:54:00:ab:cd:ef',
        'pilotlight boots show 0mh9xk2r0aaaaaa --output json',
      )}`,
    )
    .action((id: string) =>
      run((session) =>
        session.withOperations(async (operations) => {
          const boot = await operations.boots.showBoot(id)
          session.print({ json: boot, text: (style) => bootText(boot, style) })
          return exitCode.ok
        }),
      ),
    )
}

function listAll(session: Session, filters: BootFilters, options: ListOptions): Promise<number> {
  return session.withOperations(async (operations) => {
    const { items, total } = await gatherPages(
      (page) => operations.boots.listBoots({ ...filters, ...page }),
      options,
    )
    session.print({
      json: { boots: items, total },
      text: (style) =>
        items.length === 0
          ? 'No boot that fits is kept.\n'
          : `${bootTable(items, style)}${restText(items.length, total, 'boot')}`,
    })
    return exitCode.ok
  })
}

function followAll(session: Session, filters: BootFilters): Promise<number> {
  const { globals, context } = session
  const { stdout } = context
  const isJson = globals.output === 'json'
  const signal = context.untilInterrupted()
  return session.withService(async ({ operations, follow }) => {
    await followBoots({
      boots: operations.boots,
      follow,
      filters,
      signal,
      say: session.say,
      newsOf: isJson ? JSON.stringify : bootNews,
      show: (boot) => stdout.write(`${isJson ? JSON.stringify(boot) : bootLine(boot)}\n`),
    })
    return interruptionExitCode(signal)
  })
}
