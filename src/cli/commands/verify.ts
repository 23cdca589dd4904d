import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { count, formatBytes } from '../output/format.ts'
import { renderTable } from '../output/table.ts'

export function addVerify(program: Command, run: RunCommand): void {
  program
    .command('verify')
    .description('hash every cached file again; a bad one is put aside and fetched anew')
    .addHelpText('after', `\nExits with 1 when a file was bad.\n${examples('pilotlight verify')}`)
    .action(() =>
      run((session) =>
        session.withOperations(async (operations) => {
          const report = await operations.verify()
          const { checked, bytes, bad } = report
          session.print({
            json: report,
            text: (style) => {
              const summary = `${count(checked, 'file')} (${formatBytes(bytes)}) checked, ${bad.length} bad\n`
              if (bad.length === 0) return summary
              const rows = bad.map(({ sha256, reason }) => [sha256, reason])
              return `${renderTable([{ title: 'SHA256' }, { title: 'REASON' }], rows, style)}\n${summary}`
            },
          })
          return bad.length === 0 ? exitCode.ok : exitCode.failed
        }),
      ),
    )
}
