import type { HostDetail } from '../../http/admin/schemas/fleet.ts'
import { type ExitCode, exitCode } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { dryRunMark } from './change.ts'
import { hostText } from './host-text.ts'

/** The host as it is after a change, or as it would be. */
export function printHostChange(
  session: Session,
  detail: HostDetail,
  { dryRun }: { readonly dryRun: boolean },
): ExitCode {
  if (dryRun) session.say(dryRunMark)
  session.print({ json: detail, text: (style) => hostText(detail, style) })
  return exitCode.ok
}
