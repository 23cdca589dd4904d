import type { PendingChange } from './bootimage-state.ts'
import { changeSetting, hasPolicy } from './change.ts'

/**
 * What decides over a change that is not followed, with the line of the configuration that an admin can change. The
 * same words in script, log, `streams`, `sync`, API and readiness (G10).
 */
export function pendingChangeText(
  stream: string,
  { change, policy, seen }: Pick<PendingChange, 'change' | 'policy' | 'seen'>,
): string {
  const line = hasPolicy(change) ? `${changeSetting(stream, change)}: ` : ''
  if (policy === 'hold') {
    return `held by ${line}hold, until an admin sets it to follow and runs pilotlight sync`
  }
  // A second refresh would have been enough, had the source itself said so: only a mirror did.
  return seen > 1
    ? `waits until the source itself says what a mirror says (${line}confirm)`
    : `waits for a second refresh that says the same (${line}confirm)`
}
