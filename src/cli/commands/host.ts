import type { Command } from 'commander'
import { type AddCommand, examples, type RunCommand } from '../command.ts'
import { addHostAdd } from './host/add.ts'
import { addHostAdopt } from './host/adopt.ts'
import { addHostExport } from './host/export.ts'
import { addHostImport } from './host/import.ts'
import { addHostList } from './host/list.ts'
import { addHostRm } from './host/rm.ts'
import { addHostSeen } from './host/seen.ts'
import { addHostSet } from './host/set.ts'
import { addHostShow } from './host/show.ts'

const commands: readonly AddCommand[] = [
  addHostList,
  addHostShow,
  addHostAdd,
  addHostSet,
  addHostRm,
  addHostSeen,
  addHostAdopt,
  addHostImport,
  addHostExport,
]

export function addHost(program: Command, run: RunCommand): void {
  const host = program
    .command('host')
    .description('list, show, make and change hosts; see which unknown machines were there')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText(
      'after',
      `\nA host that stands in a file is changed in that file. Pins, installs and modes can be set for every host.\n${examples('pilotlight host list', 'pilotlight host show rack1-n01')}`,
    )
  for (const add of commands) add(host, run)
}
