import type { Command } from 'commander'
import { parseMac } from '../../core/mac.ts'
import { outcomeExitCodes } from '../boots/boot-exit-code.ts'
import { bootText } from '../boots/boot-text.ts'
import { type EndingView, jsonView, lineView, screenView } from '../boots/boot-views.ts'
import { endText } from '../boots/boot-words.ts'
import { readMoment, readTimeout } from '../boots/read-moment.ts'
import { type WatchEnd, watchBoot } from '../boots/watch-boot.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode, interruptionExitCode } from '../exit-codes.ts'
import { formatDuration } from '../output/format.ts'
import { type Session, styleOf } from '../session.ts'

interface WatchFlags {
  readonly timeout?: number
  readonly since?: string
}

/** A person sees four pictures a second as movement; a log is read later. */
const screenIntervalMs = 250
const lineIntervalMs = 500

export function addWatch(program: Command, run: RunCommand): void {
  program
    .command('watch')
    .description('watch a machine boot: its timeline as it goes on, and how it ends')
    .argument('<machine>', 'a MAC, or the id of a host')
    .option('--timeout <duration>', 'give up after this time (30m)', readTimeout)
    .option(
      '--since <when>',
      'take a boot that began since, also when it is over: a time, or how long ago (5m)',
    )
    .addHelpText(
      'after',
      `
It shows the boot that goes on, else the next one, and goes on where a machine begins anew. A terminal is redrawn in
place; otherwise each step is a line, and with --output json each change is one object in one line.
Exits with 0 when it booted, was installed, got all its files or was sent to its disk, 1 when it failed, was held or
fell silent, 75 after --timeout, 130 after Ctrl-C.
${examples('pilotlight watch rack1-n01', 'pilotlight watch 52:54:00:ab:cd:ef --timeout 30m')}`,
    )
    .action((machine: string, flags: WatchFlags) => run((session) => watch(session, machine, flags)))
}

function watch(session: Session, machine: string, { timeout, since }: WatchFlags): Promise<number> {
  const { context } = session
  const { now, sleep } = context
  const from = since === undefined ? undefined : readMoment(since, now())
  const signal = context.untilInterrupted()
  return session.withService(async ({ operations: { boots, fleet } }) => {
    // A host that is not there will never boot.
    if (parseMac(machine) === undefined) await fleet.showHost(machine)
    const view = viewOf(session)
    let end: WatchEnd
    try {
      end = await watchBoot({
        boots,
        machine,
        view,
        sleep,
        now,
        signal,
        intervalMs: isScreen(session) ? screenIntervalMs : lineIntervalMs,
        ...(timeout !== undefined && { timeoutMs: timeout }),
        ...(from !== undefined && { since: from }),
      })
    } finally {
      view.end()
    }
    return tellEnd(session, end, machine, { signal, timeoutMs: timeout ?? 0 })
  })
}

function isScreen({ globals, context: { stdout, env } }: Session): boolean {
  return globals.output === 'table' && stdout.isTTY === true && env.TERM !== 'dumb'
}

function viewOf(session: Session): EndingView {
  const { stdout } = session.context
  if (session.globals.output === 'json') return jsonView(stdout, session.say)
  return isScreen(session) ? screenView(stdout) : lineView(stdout, session.say)
}

/** What stays on the terminal: the whole picture, and how it ended. */
function tellEnd(
  session: Session,
  end: WatchEnd,
  machine: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): number {
  if (end.kind === 'interrupted') return interruptionExitCode(signal)
  const { stdout, env } = session.context
  const { boot } = end
  if (isScreen(session) && boot !== undefined) stdout.write(bootText(boot, styleOf(env, stdout)))
  if (end.kind === 'timeout') {
    session.say(`${machine}: not over after ${formatDuration(timeoutMs)}`)
    return exitCode.tryAgain
  }
  const { outcome } = end.boot
  if (session.globals.output === 'table') stdout.write(`${endText(end.boot)}\n`)
  return outcome === undefined ? exitCode.failed : outcomeExitCodes[outcome]
}
