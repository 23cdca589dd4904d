import { CommanderError } from 'commander'
import { ServiceError } from '../core/errors.ts'
import { asksForJson } from './asks-for-json.ts'
import type { CliContext } from './context.ts'
import { createProgram } from './create-program.ts'
import { exitCode, exitCodeOf } from './exit-codes.ts'
import { describeError, errorReport } from './report-error.ts'
import { createSession, type GlobalOptions } from './session.ts'

/**
 * Runs one command line: parses it, does it, reports what went wrong on stderr: in plain words, or with
 * `--output json` as one line of JSON. Never ends the process and never throws.
 * @returns the exit code: 0 ok, 1 failed or differs, 2 usage, 69 unavailable, 75 try again, 77 permission, 78 config
 */
export async function runCli(context: CliContext): Promise<number> {
  const { argv, env, stderr } = context
  const isJson = asksForJson(argv)
  const fail = (error: unknown) => {
    const debug = (env.PILOTLIGHT_DEBUG ?? '') !== ''
    stderr.write(
      isJson ? `${JSON.stringify({ error: errorReport(error) })}\n` : describeError(error, { debug }),
    )
    return exitCodeOf(error)
  }
  let code: number = exitCode.ok
  const program = createProgram(context, { isJson }, async (work, settings) => {
    code = await work(createSession(context, program.opts<GlobalOptions>(), settings))
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error)
    if (error.exitCode === 0) return exitCode.ok
    // For a person the parser has already said what it did not understand.
    return isJson ? fail(usageError(error)) : exitCode.usage
  }
}

function usageError({ code, message }: CommanderError): ServiceError {
  if (code === 'commander.help') {
    return new ServiceError('USAGE', 'no command is given', { hint: 'pilotlight --help lists what there is' })
  }
  const [what = '', hint] = message.replace(/^error: /, '').split('\n')
  return new ServiceError('USAGE', what, {
    hint: hint?.replace(/^\((.*)\)$/, '$1') ?? 'pilotlight --help lists what there is',
  })
}
