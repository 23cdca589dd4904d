import type { Command } from 'commander'
import type { Explanation } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { addMachineOptions, type MachineOptions, machineQuery } from '../machine-options.ts'
import { renderFields, renderTable, type TableStyle } from '../output/table.ts'

export function addExplain(program: Command, run: RunCommand): void {
  addMachineOptions(program.command('explain'))
    .description('say what a machine would boot now and why, without booting it')
    .addHelpText(
      'after',
      `\nExits with 2 for a host that is not known, 78 where no service has run with this data directory yet.\n${examples(
        'pilotlight explain --mac 52:54:00:ab:cd:ef',
        'pilotlight explain --host rack1-n01 --arch aarch64 --output json',
      )}`,
    )
    .action((options: MachineOptions) =>
      run((session) => {
        const query = machineQuery(options)
        return session.withOperations(async (operations) => {
          const explanation = await operations.explain(query)
          session.print({ json: explanation, text: (style) => explanationText(explanation, style) })
          return exitCode.ok
        })
      }),
    )
}

/** Decision, then reasons (the first one decided), then every value with its origin. */
function explanationText(explanation: Explanation, style: TableStyle): string {
  const { decision, host, arch, release, bootimage, reasons, values } = explanation
  const facts = { decision, host: host ?? '(unknown)', arch, release, bootimage }
  const fields = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const parts = [
    renderFields(fields),
    renderTable(
      [{ title: 'REASON' }, { title: '' }],
      reasons.map(({ code, text }) => [code, text]),
      style,
    ),
  ]
  if (values.length > 0) {
    parts.push(
      renderTable(
        [{ title: 'VALUE' }, { title: '' }, { title: 'FROM' }],
        values.map(({ field, value, origin }) => [field, value === '' ? '-' : value, origin]),
        style,
      ),
    )
  }
  return parts.join('\n')
}
