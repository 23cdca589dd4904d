import { type ErrorCode, isServiceError } from '../core/errors.ts'
import type { Interruption } from './context.ts'

/** The names follow sysexits(3); a script can tell "try again" from "ask a person". */
export const exitCode = {
  ok: 0,
  /** It failed, or something differs from what it should be. */
  failed: 1,
  usage: 2,
  /** An upstream or the service cannot be reached. */
  unavailable: 69,
  /** Another process holds the data directory, or something is still being fetched. */
  tryAgain: 75,
  permission: 77,
  config: 78,
} as const
/** A command that a signal ended, as shells say it: 128 and the number of the signal. */
export const interruptionExitCodes: Readonly<Record<Interruption, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  'reader-gone': exitCode.ok,
}

/** @param signal of `untilInterrupted` */
export function interruptionExitCode({ aborted, reason }: AbortSignal): number {
  return aborted ? interruptionExitCodes[reason as Interruption] : exitCode.ok
}

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Exit code of each error code; a new code does not compile without one. */
export const exitCodes: Readonly<Record<ErrorCode, ExitCode>> = {
  CONFIG_INVALID: exitCode.config,
  CONFIG_UNREADABLE: exitCode.config,
  DATA_DIRECTORY_LOCKED: exitCode.tryAgain,
  DATA_DIRECTORY_UNUSABLE: exitCode.config,
  STATE_NEWER_VERSION: exitCode.failed,
  STATE_UNAVAILABLE: exitCode.unavailable,
  LISTEN_FAILED: exitCode.unavailable,
  METADATA_INVALID: exitCode.failed,
  METADATA_UNAVAILABLE: exitCode.unavailable,
  UPSTREAM_UNREACHABLE: exitCode.unavailable,
  UPSTREAM_REFUSED: exitCode.unavailable,
  UPSTREAM_STALLED: exitCode.unavailable,
  ARTIFACT_DIGEST_MISMATCH: exitCode.failed,
  ARTIFACT_EMPTY: exitCode.failed,
  ARTIFACT_TRUNCATED: exitCode.failed,
  ARTIFACT_TOO_LONG: exitCode.failed,
  ARTIFACT_UNAVAILABLE: exitCode.unavailable,
  SIGNATURE_MISSING: exitCode.failed,
  SIGNATURE_INVALID: exitCode.failed,
  SIGNATURE_KEY_EXPIRED: exitCode.failed,
  SPACE_INSUFFICIENT: exitCode.failed,
  STORAGE_FAILED: exitCode.failed,
  TEMPLATE_INVALID: exitCode.config,
  TEMPLATE_RENDER_FAILED: exitCode.failed,
  KERNEL_ARGUMENT_INVALID: exitCode.failed,
  // Somebody named a thing that there is not: a host, a stream.
  NOT_FOUND: exitCode.usage,
  CONFLICT: exitCode.failed,
  REVISION_DIFFERS: exitCode.tryAgain,
  UNAUTHENTICATED: exitCode.permission,
  RATE_LIMITED: exitCode.tryAgain,
  BACKUP_INVALID: exitCode.failed,
  USAGE: exitCode.usage,
  PERMISSION_DENIED: exitCode.permission,
  FORBIDDEN: exitCode.permission,
  SERVICE_UNAVAILABLE: exitCode.unavailable,
  INTERNAL: exitCode.failed,
}

/** Failures on this machine that are a missing permission when the system says so. */
const localCodes: ReadonlySet<ErrorCode> = new Set([
  'CONFIG_UNREADABLE',
  'DATA_DIRECTORY_UNUSABLE',
  'LISTEN_FAILED',
  'STATE_UNAVAILABLE',
  'STORAGE_FAILED',
])

/** Exit code of anything thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!isServiceError(error)) return exitCode.failed
  if (localCodes.has(error.code) && isPermissionProblem(error)) return exitCode.permission
  return exitCodes[error.code]
}

/** Exit code of a failure that a report names by its code. */
export function exitCodeOfReport(code: string | undefined): ExitCode {
  return code !== undefined && Object.hasOwn(exitCodes, code) ? exitCodes[code as ErrorCode] : exitCode.failed
}

/** Whether the system refused something for lack of permission, anywhere in the chain of causes. */
export function isPermissionProblem(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && (cause.code === 'EACCES' || cause.code === 'EPERM')) return true
  }
  return false
}
