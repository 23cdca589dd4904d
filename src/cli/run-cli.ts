import { CommanderError } from 'commander'
import type { CliContext } from './context.ts'
import { createProgram } from './create-program.ts'
import { exitCode, exitCodeOf } from './exit-codes.ts'
import { describeError } from './report-error.ts'
import { createSession, type GlobalOptions } from './session.ts'

/**
 * Runs one command line: parses it, does it, reports what went wrong in plain words on stderr.
 * Never ends the process and never throws.
 * @returns the exit code: 0 ok, 1 failed or differs, 2 usage, 69 unavailable, 75 try again, 77 permission, 78 config
 */
export async function runCli(context: CliContext): Promise<number> {
  let code: number = exitCode.ok
  const program = createProgram(context, async (work, settings) => {
    code = await work(createSession(context, program.opts<GlobalOptions>(), settings))
  })
  try {
    await program.parseAsync(context.argv, { from: 'user' })
    return code
  } catch (error) {
    // The parser has already said what it did not understand, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
    const debug = (context.env.PILOTLIGHT_DEBUG ?? '') !== ''
    context.stderr.write(describeError(error, { debug }))
    return exitCodeOf(error)
  }
}
