import type { Command } from 'commander'
import type { SetMode } from '../../http/admin/schemas/fleet.ts'
import { type AddCommand, examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import {
  addChangeOptions,
  addUntilOption,
  type ChangeFlags,
  changeOf,
  reasonField,
  sayDone,
} from '../fleet/change.ts'
import { addGroupOption, type TargetOptions, targetOf, targetText } from '../fleet/target.ts'

type Mode = SetMode['mode']
type ModeOptions = TargetOptions & ChangeFlags & { readonly until?: string }

export const addLocal = modeCommand('local', {
  description: 'let a host or a group boot from its own disk',
  effect: 'boots from its own disk',
  example: 'pilotlight local rack1-n01',
})

export const addLive = modeCommand('live', {
  description: 'let a host or a group run from memory, without touching a disk',
  effect: 'runs from memory',
  example: 'pilotlight live rack1-n01 --until 4h --reason "memory test"',
})

export const addHold = modeCommand('hold', {
  description: 'let a host or a group boot nothing and show why; beats everything else',
  effect: 'is held',
  example: 'pilotlight hold --group edge --reason "network works until 18:00" --until 2026-12-31T18:00:00Z',
})

function modeCommand(
  mode: Mode,
  words: { readonly description: string; readonly effect: string; readonly example: string },
): AddCommand {
  return (program, run) => {
    addUntilOption(addChangeOptions(addGroupOption(program.command(mode))), 'when that ends')
      .description(words.description)
      .argument('[host]', 'id of the host')
      .addHelpText(
        'after',
        `\nIt counts from its next boot on, until pilotlight release gives it back to what its records say.\n${examples(words.example)}`,
      )
      .action((host: string | undefined, options: ModeOptions) =>
        run((session) => {
          const target = targetOf(host, options)
          const { until } = options
          return session.withOperations(async ({ fleet }) => {
            await fleet.setMode(
              { target, mode, ...reasonField(options), ...(until !== undefined && { until }) },
              changeOf(session, options),
            )
            sayDone(session, options, `${targetText(target)} ${words.effect} from the next boot on`)
            return exitCode.ok
          })
        }),
      )
  }
}

export function addRelease(program: Command, run: RunCommand): void {
  addChangeOptions(addGroupOption(program.command('release')))
    .description(
      'give a host or a group back to what its records say: ends hold, live, local, and local after an install',
    )
    .argument('[host]', 'id of the host')
    .addHelpText(
      'after',
      `\nPins stay: pilotlight unpin takes them away.\n${examples('pilotlight release rack1-n01', 'pilotlight release --group edge')}`,
    )
    .action((host: string | undefined, options: TargetOptions & ChangeFlags) =>
      run((session) => {
        const target = targetOf(host, options)
        return session.withOperations(async ({ fleet }) => {
          await fleet.releaseMode({ target, ...reasonField(options) }, changeOf(session, options))
          sayDone(session, options, `${targetText(target)} boots what its records say`)
          return exitCode.ok
        })
      }),
    )
}
