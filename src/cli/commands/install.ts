import { type Command, InvalidArgumentError } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import type { InstallSummary } from '../../http/admin/schemas/fleet.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import {
  addChangeOptions,
  addUntilOption,
  type ChangeFlags,
  changeOf,
  dryRunMark,
  reasonField,
} from '../fleet/change.ts'
import { installFields } from '../fleet/install-table.ts'
import type { Session } from '../session.ts'

interface InstallOptions extends ChangeFlags {
  readonly done: boolean
  readonly disarm: boolean
  readonly device?: string
  readonly scripts?: number
  readonly until?: string
}

export function addInstall(program: Command, run: RunCommand): void {
  addUntilOption(addChangeOptions(program.command('install')), 'when it ends at the latest (default: in 24h)')
    .description(
      'let a host install itself at its next network boot, once; afterwards it boots from its disk',
    )
    .argument('<host>', 'id of the host')
    .option('--device <path>', 'the disk that is written to (default: what its settings say)')
    .option('--scripts <number>', 'install scripts that are handed out at most (default: 5)', readScripts)
    .option('--done', 'say that it is installed, in place of the report that the host has not sent', false)
    .option('--disarm', 'say that it is not to be installed after all', false)
    .addHelpText(
      'after',
      `\nIt stays armed until the host reports that it is installed, or you say so with --done: a script that was handed\nout proves nothing. Then the host boots from its disk, until pilotlight install arms it again or pilotlight release\ngives it back to what its records say.\n${examples(
        'pilotlight install rack1-n01 --device /dev/nvme0n1 --reason "new disk"',
        'pilotlight install rack1-n01 --done',
        'pilotlight install rack1-n01 --disarm',
      )}`,
    )
    .action((host: string, options: InstallOptions) => run((session) => install(session, host, options)))
}

async function install(session: Session, host: string, options: InstallOptions): Promise<number> {
  const as = endOf(options)
  return session.withOperations(async ({ fleet }) => {
    const change = changeOf(session, options)
    const summary =
      as === undefined
        ? await fleet.armInstall({ host, ...armingOf(options), ...reasonField(options) }, change)
        : await fleet.endInstall({ host, as, ...reasonField(options) }, change)
    if (options.dryRun) session.say(dryRunMark)
    session.print({ json: summary, text: () => installFields(summary) })
    if (as === undefined && !options.dryRun) session.say(nextOf(summary))
    return exitCode.ok
  })
}

function endOf({ done, disarm, ...arming }: InstallOptions): 'installed' | 'disarm' | undefined {
  if (!done && !disarm) return undefined
  if (done && disarm) {
    throw new ServiceError(
      'USAGE',
      'installed or not to be installed? only one of --done and --disarm can be',
    )
  }
  const extra = (['device', 'scripts', 'until'] as const).find((name) => arming[name] !== undefined)
  if (extra !== undefined) {
    throw new ServiceError(
      'USAGE',
      `--${extra} says how to install, and ${done ? '--done' : '--disarm'} ends it`,
      {
        field: extra,
        hint: 'leave one of them out',
      },
    )
  }
  return done ? 'installed' : 'disarm'
}

function armingOf({ device, scripts, until }: InstallOptions) {
  return {
    ...(device !== undefined && { device }),
    ...(scripts !== undefined && { mostServes: scripts }),
    ...(until !== undefined && { until }),
  }
}

function nextOf({ host, device, next }: InstallSummary): string {
  const disk = device === undefined ? 'its disk' : device
  if (next !== undefined)
    return `at its next network boot ${host} ${next}; everything on ${disk} will be lost`
  return `${host} installs itself to ${disk} when it next boots from the network; everything on it will be lost`
}

function readScripts(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= 1000) return number
  throw new InvalidArgumentError('a number from 1 to 1000')
}
