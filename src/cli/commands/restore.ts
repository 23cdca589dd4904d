import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { changeOf } from '../fleet/change.ts'
import { renderFields } from '../output/table.ts'
import type { Session } from '../session.ts'

export function addRestore(program: Command, run: RunCommand): void {
  program
    .command('restore')
    .description('take what admins and machines said from a backup, in place of what there is')
    .argument('<file>', 'as pilotlight backup wrote it, on the machine of the service')
    .option('--yes', 'do not ask', false)
    .addHelpText(
      'after',
      `\nThe whole file is checked first: all of it or nothing, and the service goes on meanwhile. What was changed since the\nbackup is lost; pilotlight backup keeps it. Into an empty data directory installs come back armed as they were:\nend with pilotlight install HOST --done or --disarm what is over.\nExits with 1 when the file is no usable backup.\n${examples(
        'pilotlight restore /var/backups/pilotlight-2026-12-31.db --yes',
      )}`,
    )
    .action((name: string, { yes }: { readonly yes: boolean }) =>
      run(async (session) => {
        const file = resolve(session.context.cwd, name)
        if (!yes) await confirm(session, file)
        return session.withOperations(
          async ({ fleet }) => {
            const report = await fleet.restore({ file }, changeOf(session, { dryRun: false }))
            session.print({
              json: report,
              text: () =>
                renderFields([
                  ['file', report.file],
                  ['hosts, groups and profiles', String(report.records)],
                  ['pins and modes', String(report.settings)],
                  ['installs', String(report.installs)],
                  ['tokens', String(report.tokens)],
                  ['resolved pins', String(report.pinnedReleases)],
                ]),
            })
            return exitCode.ok
          },
          { mayCreate: true },
        )
      }),
    )
}

/** @throws ServiceError USAGE when the answer is not yes, or nobody can be asked */
async function confirm({ context: { stdin } }: Session, file: string): Promise<void> {
  if (!stdin.isTTY) {
    throw new ServiceError(
      'USAGE',
      'this replaces hosts, pins, installs and tokens, and nobody can be asked',
      {
        hint: 'say --yes',
      },
    )
  }
  const answer = await stdin.ask(
    `Replace all hosts, pins, installs and tokens of API and command line by those of ${file}? (yes/no) `,
  )
  if (answer?.trim() === 'yes') return
  throw new ServiceError('USAGE', 'the answer was not yes, nothing was changed')
}
