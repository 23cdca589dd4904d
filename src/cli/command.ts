import { type Command, InvalidArgumentError, Option } from 'commander'
import { suggestion } from '../config/suggest.ts'
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

/** An option that takes one word of a few; a slip of the finger gets the word that was meant. */
export function choiceOption(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words).argParser((word: string) => {
    if (words.includes(word)) return word
    const hint = suggestion(word, words)
    throw new InvalidArgumentError(
      `Allowed choices are ${words.join(', ')}.${hint === undefined ? '' : `\n(${hint.replace(/^d/, 'D')})`}`,
    )
  })
}
