import { ServiceError } from '../core/errors.ts'
import { visibleText } from '../core/visible-text.ts'
import { type ConfigPath, pathText } from './config-path.ts'

/** Where something was written. `line` and `column` count from 1; a flag or an environment variable has none. */
export interface Position {
  /** File as shown to people, or the name of the flag or variable. */
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** One mistake, or one warning. */
export interface ConfigProblem extends Position {
  /** `boot.http.listen`; empty for the document as a whole. */
  readonly path: string
  /** What was found and what is allowed. */
  readonly message: string
  /** What was probably meant. */
  readonly hint?: string
}

const shownProblems = 20

export function problemAt(
  position: Position,
  path: ConfigPath,
  message: string,
  hint?: string,
): ConfigProblem {
  return {
    ...position,
    path: visibleText(pathText(path)),
    message: visibleText(message),
    ...(hint === undefined ? {} : { hint: visibleText(hint) }),
  }
}

/** `pilotlight.yaml:7:5: boot.htpp: unknown key, allowed: address, … (did you mean "http"?)` */
export function problemText({ file, line, column, path, message, hint }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`
  return `${place}: ${path === '' ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}

/** By file in the order in which they were read, then by position. */
export function sortProblems(
  problems: readonly ConfigProblem[],
  files: readonly string[],
): readonly ConfigProblem[] {
  const rank = new Map(files.map((file, index) => [file, index]))
  const rankOf = ({ file }: ConfigProblem) => rank.get(file) ?? files.length
  return [...problems].sort(
    (a, b) => rankOf(a) - rankOf(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
}

/** All problems as the one error that leaves the loader; `details.files` are the files to watch for the repair. */
export function configInvalid(problems: readonly ConfigProblem[], files: readonly string[]): ServiceError {
  const lines = problems.slice(0, shownProblems).map(problemText)
  const more = problems.length - lines.length
  if (more > 0) lines.push(`and ${more} more`)
  return new ServiceError('CONFIG_INVALID', lines.join('\n'), { problems, files })
}
