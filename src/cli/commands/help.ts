import type { Command } from 'commander'
import { suggestion } from '../../config/suggest.ts'

/** The usual `help`, which also goes down (`help config check`) and says what was meant. */
export function addHelp(program: Command): void {
  program
    .command('help')
    .description('print help for a command')
    .argument('[command...]', 'its name')
    .action((names: readonly string[]) => helped(program, names).outputHelp())
}

function helped(program: Command, names: readonly string[]): Command {
  let command = program
  for (const name of names) {
    const next = command.commands.find((candidate) => candidate.name() === name)
    if (next === undefined) return refuse(program, name, command)
    command = next
  }
  return command
}

function refuse(program: Command, name: string, among: Command): never {
  const hint = suggestion(
    name,
    among.commands.map((command) => command.name()),
  )
  const meant = hint === undefined ? '' : `\n(${hint.replace(/^d/, 'D')})`
  return program.error(`error: unknown command '${name}'${meant}`, {
    code: 'commander.unknownCommand',
    exitCode: 2,
  })
}
