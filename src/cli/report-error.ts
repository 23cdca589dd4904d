import { type ErrorCode, errorTexts, isServiceError, type ServiceError } from '../core/errors.ts'
import { visibleText } from '../core/visible-text.ts'
import { exitCodeOf, isPermissionProblem } from './exit-codes.ts'
import { count } from './output/format.ts'

/** What to do, where the error itself does not say. */
const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  DATA_DIRECTORY_LOCKED: 'a service is starting or another pilotlight command runs there; try again',
  DATA_DIRECTORY_UNUSABLE: 'choose another one with --data-dir, or make this one writable',
  LISTEN_FAILED: 'another program may use that port; choose another with boot.http.listen or admin.listen',
  STATE_NEWER_VERSION: 'use at least the version that wrote it',
  UPSTREAM_UNREACHABLE:
    'what is cached is still served; check the network, the proxy (HTTPS_PROXY) and the URL',
  SPACE_INSUFFICIENT: 'see what can go with: pilotlight gc --dry-run',
  SERVICE_UNAVAILABLE: 'see the log of the service',
  INTERNAL: 'run it again with PILOTLIGHT_DEBUG=1 to see where',
}

/** The same, where the system refused it for lack of permission. */
const permissionHints: Readonly<Partial<Record<ErrorCode, string>>> = {
  CONFIG_UNREADABLE: 'make the file readable for this user',
  DATA_DIRECTORY_UNUSABLE:
    'run it as the user that owns the data directory, or choose another with --data-dir',
  LISTEN_FAILED: 'a port below 1024 needs CAP_NET_BIND_SERVICE; or listen on a higher one',
  STATE_UNAVAILABLE: 'run it as the user that owns the data directory',
  STORAGE_FAILED: 'run it as the user that owns the data directory',
}

/** One thing that is wrong with a configuration file, as the loader reports it in `details.problems`. */
interface ConfigProblem {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly path?: string
  readonly message: string
  readonly hint?: string
}

/**
 * An error in lines for a person: what, where, what to do. No stack, unless `debug`.
 * What is no ServiceError is a defect of ours and says so.
 */
export function describeError(error: unknown, { debug }: { debug: boolean }): string {
  const lines = isServiceError(error) ? serviceErrorLines(error) : unexpectedErrorLines(error)
  const shown = lines.map((line) => `${visibleText(line)}\n`).join('')
  return debug ? `${shown}${debugText(error)}\n` : shown
}

/** The same as data, for programs (`--output json`): on stderr, in one line, as `{ "error": … }`. */
export interface ErrorReport {
  /** Of `core/errors.ts`. */
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
  /** The option or parameter that is wrong. */
  readonly field?: string
  /** Each mistake of a configuration. */
  readonly problems?: readonly ConfigProblem[]
  readonly exitCode: number
}

export function errorReport(error: unknown): ErrorReport {
  const exitCode = exitCodeOf(error)
  if (!isServiceError(error)) {
    const [message = '', hint] = unexpectedErrorLines(error).map((line) =>
      line.replace(/^(?:pilotlight|\s*hint): /, ''),
    )
    return { code: 'INTERNAL', message, ...(hint !== undefined && { hint }), exitCode }
  }
  const { code, details } = error
  const problems = configProblems(details.problems)
  const hint = hintFor(error)
  return {
    code,
    message:
      problems.length > 0 ? (summaryOf(error) ?? errorTexts[code]) : `${error.message}${causeText(error)}`,
    ...(hint !== undefined && { hint }),
    ...(typeof details.field === 'string' && { field: details.field }),
    ...(problems.length > 0 && { problems }),
    exitCode,
  }
}

function serviceErrorLines(error: ServiceError): string[] {
  const { code, details } = error
  const problems = configProblems(details.problems)
  // The loader's message holds every problem already; here each gets its own line.
  const what =
    problems.length > 0
      ? (summaryOf(error) ?? `${errorTexts[code]} (${count(problems.length, 'problem')})`)
      : `${error.message}${causeText(error)}`
  const hint = hintFor(error)
  return [
    `pilotlight: ${what}`,
    ...problems.flatMap(problemLines),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
  ]
}

/** What is wrong on the whole, where the code does not say it. */
function summaryOf({ details }: ServiceError): string | undefined {
  return typeof details.summary === 'string' ? details.summary : undefined
}

function hintFor(error: ServiceError): string | undefined {
  const { code, details } = error
  if (typeof details.hint === 'string') return details.hint
  return (isPermissionProblem(error) ? permissionHints[code] : undefined) ?? hints[code]
}

function problemLines({ file, line, column, path, message, hint }: ConfigProblem): string[] {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  const what = path === undefined || path === '' ? message : `${path}: ${message}`
  return [
    `  ${place === '' ? what : `${place}: ${what}`}`,
    ...(hint === undefined ? [] : [`    hint: ${hint}`]),
  ]
}

function configProblems(problems: unknown): readonly ConfigProblem[] {
  if (!Array.isArray(problems)) return []
  return problems.filter(
    (problem): problem is ConfigProblem =>
      typeof problem === 'object' && problem !== null && typeof problem.message === 'string',
  )
}

/** What the system said (`EADDRINUSE …`), where the message does not repeat it; words of a library help nobody. */
function causeText({ message, cause }: Error): string {
  const isSystemError = cause instanceof Error && 'syscall' in cause
  return isSystemError && !message.includes(cause.message) ? ` (${cause.message})` : ''
}

function unexpectedErrorLines(error: unknown): string[] {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return [`pilotlight: unexpected error: ${text}`, `  hint: ${hints.INTERNAL}`]
}

/** Stack and causes, as a developer wants them. */
function debugText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\ncaused by ${debugText(error.cause)}`
}
