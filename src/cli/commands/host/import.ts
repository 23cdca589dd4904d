import { basename } from 'node:path'
import type { Command } from 'commander'
import { isServiceError, ServiceError } from '../../../core/errors.ts'
import { examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'
import { addChangeOptions, type ChangeFlags, changeOf, dryRunMark, reasonField } from '../../fleet/change.ts'
import { readInput } from '../../fleet/spec.ts'
import { renderFields } from '../../output/table.ts'

/** 100,000 hosts have about 20 MiB. */
const maxImportBytes = 64 * 1024 * 1024

export function addHostImport(host: Command, run: RunCommand): void {
  addChangeOptions(host.command('import'))
    .description('take hosts, groups and profiles from a file, all of them or none')
    .argument('<file>', 'as host export writes it, or a file of hosts.d; - is standard input')
    .option('--replace', 'remove what the API has and it lacks, of the kinds that it speaks of', false)
    .addHelpText(
      'after',
      `\nExits with 2 when something in it is not right: each mistake with line and column.\n${examples(
        'pilotlight host import fleet.yaml --dry-run',
        'pilotlight host import fleet.yaml --replace --reason "new rack"',
      )}`,
    )
    .action((file: string, options: ChangeFlags & { readonly replace: boolean }) =>
      run(async (session) => {
        const text = await readInput(session, file, maxImportBytes)
        const name = file === '-' ? 'standard input' : basename(file)
        return session.withOperations(
          async ({ fleet }) => {
            const report = await fleet
              .importRecords(
                { text, name, mode: options.replace ? 'replace' : 'merge', ...reasonField(options) },
                changeOf(session, options),
              )
              .catch((error: unknown) => {
                throw withProblems(error, name)
              })
            if (report.dryRun) session.say(dryRunMark)
            const { dryRun: _, ...counts } = report
            session.print({
              json: report,
              text: () => renderFields(Object.entries(counts).map(([key, count]) => [key, String(count)])),
            })
            return exitCode.ok
          },
          { mayCreate: !options.dryRun },
        )
      }),
    )
}

/** The message holds each mistake in a line of its own. */
function withProblems(error: unknown, name: string): unknown {
  if (!isServiceError(error, 'USAGE') || error.details.field !== 'text') return error
  const problems = error.message.split('\n').map((message) => ({ message }))
  return new ServiceError(
    'USAGE',
    error.message,
    { ...error.details, summary: `${name} is not taken in`, problems },
    error.cause,
  )
}
