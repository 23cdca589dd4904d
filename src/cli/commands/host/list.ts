import type { Command } from 'commander'
import { bootModes } from '../../../core/host.ts'
import type { HostQuery, HostSummary } from '../../../http/admin/schemas/fleet.ts'
import { choiceOption, examples, type RunCommand } from '../../command.ts'
import { exitCode } from '../../exit-codes.ts'
import { addLimitOption, gatherPages, type ListOptions, restText } from '../../fleet/pages.ts'
import { formatAge } from '../../output/format.ts'
import { type Column, renderTable } from '../../output/table.ts'

type Filters = Omit<HostQuery, 'limit' | 'after'>

const columns: readonly Column[] = [
  { title: 'HOST' },
  { title: 'BOOTS' },
  { title: 'RELEASE' },
  { title: 'STREAM' },
  { title: 'PROFILE' },
  { title: 'GROUPS', canShrink: true },
  { title: 'MACS', canShrink: true },
  { title: 'LAST SEEN' },
  { title: 'WHY', canShrink: true },
  { title: 'ATTENTION', canShrink: true },
]

export function addHostList(host: Command, run: RunCommand): void {
  addLimitOption(host.command('list'))
    .description('list the hosts, what each would boot now, and why')
    .option('--search <text>', 'part of an id, MAC, serial or host name')
    .option('--label <key=value>', 'with this label')
    .option('--group <name>', 'of this group')
    .option('--profile <name>', 'with this profile')
    .option('--stream <name>', 'following this stream')
    .addOption(choiceOption('--mode <mode>', 'in this mode', bootModes))
    .addOption(choiceOption('--source <source>', 'where it was declared', ['file', 'api']))
    .addHelpText(
      'after',
      examples('pilotlight host list', 'pilotlight host list --label site=edge --limit 20'),
    )
    .action(({ limit, ...filters }: Filters & ListOptions) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const { items: hosts, total } = await gatherPages(
            (page) => fleet.listHosts({ ...filters, ...page }),
            limit === undefined ? {} : { limit },
          )
          const now = session.context.now()
          session.print({
            json: { hosts, total },
            text: (style) =>
              `${renderTable(
                columns,
                hosts.map((entry) => rowOf(entry, now)),
                style,
              )}${restText(hosts.length, total, 'host')}`,
          })
          return exitCode.ok
        }),
      ),
    )
}

function rowOf(host: HostSummary, now: number): string[] {
  return [
    host.id,
    host.decision,
    host.release ?? '-',
    host.stream ?? '-',
    host.profile ?? '-',
    host.groups.length === 0 ? '-' : host.groups.join(' '),
    host.macs.length === 0 ? '-' : host.macs.join(' '),
    formatAge(host.lastSeenAt, now),
    host.reason,
    host.flags.join('; '),
  ]
}
