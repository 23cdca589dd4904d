import { resolve } from 'node:path'
import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { formatBytes } from '../output/format.ts'

export function addBackup(program: Command, run: RunCommand): void {
  program
    .command('backup')
    .description('write all state into one file, also while the service runs')
    .argument('<file>', 'a new file on the machine of the service')
    .addHelpText(
      'after',
      `\nThe path counts from here, and a running service writes it: its user must be allowed to.\nHosts, pins, installs, tokens, reports and the audit list are in it, artifacts are not: they are fetched again.\nIt holds keys and configs of machines: its mode is 0600. Exits with 1 when the file is there already.\n${examples(
        'pilotlight backup /var/backups/pilotlight-2026-12-31.db',
      )}`,
    )
    .action((file: string) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const report = await fleet.backup({ file: resolve(session.context.cwd, file) })
          session.print({
            json: report,
            text: () => `${report.file}: ${formatBytes(report.sizeBytes)}, complete\n`,
          })
          return exitCode.ok
        }),
      ),
    )
}
