import type { Command } from 'commander'
import type { SyncReport } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { type ExitCode, exitCode, exitCodeOfReport } from '../exit-codes.ts'
import { type Column, renderTable } from '../output/table.ts'
import { isUnderWay } from '../progress/progress-text.ts'
import { withProgress } from '../progress/watch-progress.ts'

const columns: readonly Column[] = [
  { title: 'STREAM' },
  { title: 'OUTCOME' },
  { title: 'BOOTIMAGE' },
  { title: 'STATE' },
  { title: 'NOTE', canShrink: true },
]

export function addSync(program: Command, run: RunCommand): void {
  program
    .command('sync')
    .description('read the metadata of streams now and fetch what they want, until it is there or has failed')
    .argument('[stream...]', 'names of streams (default: all)')
    .addHelpText(
      'after',
      `\nInterrupting it stops nothing that a running service fetches.\nExits with 1 when something failed or cannot be used, 69 when an upstream does not answer, 75 while something is\nstill being fetched.\n${examples(
        'pilotlight sync',
        'pilotlight sync fcos-stable rhcos-4.20',
      )}`,
    )
    .action((streams: readonly string[]) =>
      run((session) =>
        session.withOperations(
          async (operations) => {
            const { stderr, sleep } = session.context
            const report = await withProgress({ operations, stream: stderr, sleep }, () =>
              operations.sync(streams.length === 0 ? {} : { streams }),
            )
            session.print({ json: report, text: (style) => renderTable(columns, rowsOf(report), style) })
            return syncExitCode(report)
          },
          { mayCreate: true },
        ),
      ),
    )
}

function rowsOf({ streams }: SyncReport): string[][] {
  return streams.flatMap(({ name, outcome, message = '', notes, bootimages }) => {
    const rows = [
      ...notes.map(({ arch, kind, text }) => [name, outcome, arch, kind, text]),
      ...bootimages.map(({ id, state, failure }) => [name, outcome, id, state, failure ?? message]),
    ]
    return rows.length === 0 ? [[name, outcome, '-', '-', message]] : rows
  })
}

/**
 * One code for the whole report: failed beats unavailable beats still being fetched, because the first needs a person
 * and the last only time.
 */
export function syncExitCode({ streams }: SyncReport): ExitCode {
  const codes = streams.flatMap(({ outcome, code, notes, bootimages }): ExitCode[] => [
    ...(outcome === 'failed' ? [exitCodeOfReport(code)] : []),
    // A part that nobody can use needs a person; what a policy does not follow is as the admin said.
    ...notes.map(({ kind }) => (kind === 'refused' ? exitCode.failed : exitCode.ok)),
    ...bootimages.map((bootimage) => {
      if (bootimage.state === 'failed') return exitCodeOfReport(bootimage.code)
      return isUnderWay(bootimage) ? exitCode.tryAgain : exitCode.ok
    }),
  ])
  const worst = codes.find(
    (code) => code !== exitCode.ok && code !== exitCode.unavailable && code !== exitCode.tryAgain,
  )
  if (worst !== undefined) return worst
  if (codes.includes(exitCode.unavailable)) return exitCode.unavailable
  return codes.includes(exitCode.tryAgain) ? exitCode.tryAgain : exitCode.ok
}
