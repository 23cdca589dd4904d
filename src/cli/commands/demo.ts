import { type Command, InvalidArgumentError } from 'commander'
import { examples, type RunCommand } from '../command.ts'

export function addDemo(program: Command, run: RunCommand): void {
  program
    .command('demo')
    .description(
      'show the main job with a sample stream and a simulated node; needs neither root nor internet',
    )
    .option('--once', 'end after the story, non-zero if anything differed', false)
    .option('--port <number>', 'port of the boot listener', readPort)
    .addHelpText(
      'after',
      `\nExits with 1 when a check failed, or when it was ended before all were made.\n${examples('pilotlight demo', 'pilotlight demo --once')}`,
    )
    .action(({ once, port }: { once: boolean; port?: number }) =>
      run(({ context: { runtime, stdout, programName } }) =>
        runtime.runDemo({ once, stdout, programName, ...(port !== undefined && { port }) }),
      ),
    )
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('a port is a number up to 65535')
}
