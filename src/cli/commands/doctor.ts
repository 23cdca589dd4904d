import { join } from 'node:path'
import type { Command } from 'commander'
import type { PatternFacts } from '../../doctor/check-boots.ts'
import { diagnose } from '../../doctor/diagnose.ts'
import { type Finding, isHealthy, type Severity, severities } from '../../doctor/finding.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { findService } from '../open-operations.ts'
import { count } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'

const columns: readonly Column[] = [{ title: 'CHECK' }, { title: '' }, { title: 'FINDING' }]

export function addDoctor(program: Command, run: RunCommand): void {
  program
    .command('doctor')
    .description(
      'look for what keeps machines from booting, beside a running service or without one, and say what to do',
    )
    .option('--interface <name...>', 'look for other DHCP servers on these interfaces, too')
    .addHelpText(
      'after',
      `
It looks at boots that show a known pattern, ports, rights, interfaces, other DHCP servers (by a DISCOVER of a made-up machine; needs UDP port 68),
loaders, everything that DHCP would hand out (fetched from the running service), upstreams, disk, clock and the data
directory. It changes nothing. Exits with 1 when there is a problem.
${examples('pilotlight doctor', 'pilotlight doctor --interface eth1', 'pilotlight doctor --output json')}`,
    )
    .action(({ interface: interfaces = [] }: { interface?: readonly string[] }) =>
      run(async (session) => {
        const loaded = session.loadConfig()
        const { config } = loaded
        const service = await findService(join(config.dataDir, 'control.sock'))
        const facts = await session.context.runtime
          .gatherFacts({ loaded, interfaces, service })
          .finally(() => (service.kind === 'running' ? service.close() : undefined))
        const findings = diagnose(config, facts)
        const healthy = isHealthy(findings)
        const { patterns = [] } = facts
        session.print({
          json: { healthy, findings, patterns },
          text: (style) =>
            `${renderTable(columns, findings.flatMap(rowsOf), style)}${patternsText(patterns, style)}\n${summaryOf(findings)}\n`,
        })
        return healthy ? exitCode.ok : exitCode.failed
      }),
    )
}

const patternColumns: readonly Column[] = [
  { title: 'PATTERN' },
  { title: 'SHOWN BY', align: 'right' },
  { title: 'WHAT IT IS' },
]

/** The known ways in which boots go wrong, and how many machines show each now; nothing where no service runs. */
function patternsText(patterns: readonly PatternFacts[], style: TableStyle): string {
  if (patterns.length === 0) return ''
  const rows = patterns.map(({ code, count, title }) => [code, String(count), title])
  return `\n${renderTable(patternColumns, rows, style)}`
}

/** The finding, and below it what to do. */
function rowsOf({ check, severity, what, todo }: Finding): string[][] {
  return [[check, severity, what], ...(todo === undefined ? [] : [['', '', `-> ${todo}`]])]
}

const nouns: Readonly<Record<Exclude<Severity, 'ok'>, string>> = {
  note: 'note',
  warning: 'warning',
  problem: 'problem',
}

/** `1 problem, 2 warnings`; the worst first. */
function summaryOf(findings: readonly Finding[]): string {
  const parts = [...severities].reverse().flatMap((severity) => {
    const number = findings.filter((finding) => finding.severity === severity).length
    return severity === 'ok' || number === 0 ? [] : [count(number, nouns[severity])]
  })
  return parts.length === 0 ? 'Nothing stands in the way.' : parts.join(', ')
}
