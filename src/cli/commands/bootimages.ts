import type { Command } from 'commander'
import type { BootimageSummary } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { formatBytes } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'
import { readArch } from '../read-arch.ts'

const columns: readonly Column[] = [
  { title: 'STREAM' },
  { title: 'ARCH' },
  { title: 'RELEASE' },
  { title: 'STATE' },
  { title: 'ROLES' },
  { title: 'SIZE', align: 'right' },
  { title: 'NOTE', canShrink: true },
]

export function addBootimages(program: Command, run: RunCommand): void {
  program
    .command('bootimages')
    .description('list the bootimages that are known: state, progress, and what they are kept for')
    .option('--stream <name>', 'only of this stream')
    .option('--arch <arch>', 'only for this architecture')
    .addHelpText(
      'after',
      `\nExits with 2 for a stream that is not configured, 78 where no service has run with this data directory yet.\n${examples('pilotlight bootimages', 'pilotlight bootimages --stream fcos-stable --arch aarch64')}`,
    )
    .action(({ stream, arch }: { stream?: string; arch?: string }) =>
      run((session) => {
        const filter = {
          ...(stream !== undefined && { stream }),
          ...(arch !== undefined && { arch: readArch(arch) }),
        }
        return session.withOperations(async (operations) => {
          const bootimages = await operations.bootimages(filter)
          session.print({
            json: { bootimages },
            text: (style) => renderTable(columns, bootimages.map(rowOf), style),
          })
          return exitCode.ok
        })
      }),
    )
}

function rowOf(bootimage: BootimageSummary): string[] {
  const { stream, arch, release, kind, state, roles, sizeBytes } = bootimage
  return [
    stream,
    arch,
    release,
    state,
    roles.length === 0 ? '-' : roles.join(' '),
    sizeBytes === undefined ? '-' : formatBytes(sizeBytes),
    [...(kind === 'legacy-installer' ? ['installs only'] : []), ...noteOf(bootimage)].join('; '),
  ]
}

function noteOf({ failure, state, doneBytes, totalBytes }: BootimageSummary): string[] {
  if (failure !== undefined) return [`${failure.code}: ${failure.message}`]
  if (state !== 'downloading' || doneBytes === undefined) return []
  return [`${formatBytes(doneBytes)}${totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`}`]
}
