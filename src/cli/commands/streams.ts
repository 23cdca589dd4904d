import type { Command } from 'commander'
import type { StreamArchSummary, StreamSummary } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { formatAge } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'STREAM' },
  { title: 'ARCH' },
  { title: 'CURRENT' },
  { title: 'PREVIOUS', canShrink: true },
  { title: 'READ' },
  { title: 'NOTE', canShrink: true },
]

export function addStreams(program: Command, run: RunCommand): void {
  program
    .command('streams')
    .description('list the streams: what is current, what is coming, when their metadata was last read')
    .addHelpText(
      'after',
      `\nExits with 78 where no service has run with this data directory yet.\n${examples('pilotlight streams', 'pilotlight streams --output json')}`,
    )
    .action(() =>
      run((session) =>
        session.withOperations(async (operations) => {
          const streams = await operations.streams()
          session.print({
            json: { streams },
            text: (style) =>
              renderTable(
                columns,
                streams.flatMap((stream) => rowsOf(stream, session.context.now())),
                style,
              ),
          })
          return exitCode.ok
        }),
      ),
    )
}

function rowsOf(stream: StreamSummary, now: number): string[][] {
  const read = formatAge(stream.lastSuccessAt, now)
  const trouble = stream.error === undefined ? [] : [`${stream.error.code}: ${stream.error.message}`]
  if (stream.architectures.length === 0) return [[stream.name, '-', '-', '-', read, trouble.join('; ')]]
  return stream.architectures.map((arch) => [
    stream.name,
    arch.arch,
    arch.current ?? '-',
    arch.previous.length === 0 ? '-' : arch.previous.join(' '),
    read,
    [...notesOf(arch), ...trouble].join('; '),
  ])
}

/** What keeps this architecture from simply being at the newest. */
function notesOf({ target, pending, damaged, problem }: StreamArchSummary): string[] {
  const notes: string[] = problem === undefined ? [] : [problem]
  if (damaged !== undefined) {
    const { text, standIn } = damaged
    notes.push(standIn === undefined ? text : `${text}; ${standIn} boots meanwhile`)
  }
  if (target !== undefined && target.release !== damaged?.release) {
    notes.push(
      `${target.release} ${target.state}${target.failure === undefined ? '' : ` (${target.failure})`}`,
    )
  }
  if (pending !== undefined) {
    const release = pending.release === undefined ? '' : ` ${pending.release}`
    notes.push(`${pending.change}${release}: ${pending.decides}`)
  }
  return notes
}
