import type { AttemptOutcome } from '../../core/boot-attempt.ts'
import { type ExitCode, exitCode } from '../exit-codes.ts'

/** How `watch` ends: a script goes on where the machine got what it was to get. */
export const outcomeExitCodes: Readonly<Record<AttemptOutcome, ExitCode>> = {
  booted: exitCode.ok,
  installed: exitCode.ok,
  served: exitCode.ok,
  local: exitCode.ok,
  failed: exitCode.failed,
  held: exitCode.failed,
  lost: exitCode.failed,
  superseded: exitCode.failed,
}
