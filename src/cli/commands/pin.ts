import type { Command } from 'commander'
import type { PinSummary, SetPin } from '../../http/admin/schemas/fleet.ts'
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
import { checkAskable, chooseRelease } from '../fleet/choose-release.ts'
import { pinFields } from '../fleet/pin-table.ts'
import { addGroupOption, type TargetOptions, targetOf, targetText } from '../fleet/target.ts'
import { pinExitCode, waitForPin } from '../fleet/wait-for-pin.ts'
import { readArch } from '../read-arch.ts'
import type { Session } from '../session.ts'

interface PinOptions extends TargetOptions, ChangeFlags {
  readonly arch?: string
  readonly stream?: string
  readonly until?: string
  readonly wait: boolean
}

export function addPin(program: Command, run: RunCommand): void {
  addUntilOption(addChangeOptions(addGroupOption(program.command('pin'))), 'when the pin ends')
    .description('pin a host or a group to a release: it boots that one or nothing')
    .argument('[host]', 'id of the host')
    .argument('[release]', 'as the metadata spells it, or "current" for what is current now')
    .option('--arch <arch>', 'for machines of this architecture alone')
    .option('--stream <name>', 'a release of this stream (default: the one that it follows)')
    .option('--wait', 'wait until its files are here, and show how far they are', false)
    .addHelpText(
      'after',
      `\nOn a terminal without a release it lists those that can be had and asks.\nA release that cannot be had at all is refused at once. With --wait it exits with 1 when the files could not be\nfetched, 75 while they are still on their way.\n${examples(
        'pilotlight pin rack1-n01',
        'pilotlight pin rack1-n01 44.20260621.3.1 --reason "NIC regression in 44.20260707" --until 2026-12-31',
        'pilotlight pin --group edge current --wait',
      )}`,
    )
    .action((first: string | undefined, second: string | undefined, options: PinOptions) =>
      run((session) => pin(session, places(first, second, options), options)),
    )
}

/** With `--group` there is no host, so the first word is the release. */
function places(first: string | undefined, second: string | undefined, { group }: TargetOptions) {
  return group !== undefined && second === undefined
    ? { host: undefined, release: first }
    : { host: first, release: second }
}

function pin(
  session: Session,
  given: { readonly host: string | undefined; readonly release: string | undefined },
  options: PinOptions,
): Promise<number> {
  const target = targetOf(given.host, options)
  const arch = options.arch === undefined ? undefined : readArch(options.arch)
  if (given.release === undefined) checkAskable(session)
  return session.withOperations(async (operations) => {
    const { fleet } = operations
    const wanted = { target, ...(arch !== undefined && { arch }), ...streamOf(options) }
    const release = given.release ?? (await chooseRelease(session, fleet, wanted))
    const body: SetPin = {
      ...wanted,
      release,
      ...reasonField(options),
      ...(options.until !== undefined && { until: options.until }),
    }
    const summary = await fleet.setPin(body, changeOf(session, options))
    if (options.dryRun) {
      session.say(dryRunMark)
      printPin(session, summary)
      return exitCode.ok
    }
    const settled = options.wait ? await waitForPin(session, operations, summary) : summary
    printPin(session, settled)
    if (options.wait) return pinExitCode(settled)
    if (settled.files.some(({ state }) => state !== 'ready')) {
      session.say(
        `${targetText(target)} waits until the files are here; pilotlight pins shows how far they are`,
      )
    }
    return exitCode.ok
  })
}

function printPin(session: Session, summary: PinSummary): void {
  session.print({ json: summary, text: () => pinFields(summary) })
}

function streamOf({ stream }: PinOptions): { readonly stream?: string } {
  return stream === undefined ? {} : { stream }
}
