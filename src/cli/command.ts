import type { Command } from 'commander'
import type { ExitCode } from './exit-codes.ts'
import type { Session } from './session.ts'

/**
 * Runs a command's work with its session and keeps its exit code.
 * @param settings parsed options that may set values of the configuration
 */
export type RunCommand = (
  work: (session: Session) => Promise<ExitCode | number>,
  settings?: object,
) => Promise<void>

/** Adds one command to the tree. */
export type AddCommand = (program: Command, run: RunCommand) => void

/** Examples below a command's help, as a shell session shows them. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`
}
