import type { BootimageStatus } from './catalog.ts'
import { type Reason, reason } from './reason.ts'

/** Why what is current is not handed out; the same words in script, `streams`, API and readiness (G10). */
export function damageReason({ bootimage, state, failure }: BootimageStatus): Reason {
  const { stream, release } = bootimage
  // Not damaged at all, but verified under rules that are no longer in force.
  if (state === 'pending-signature') {
    return reason('current-unsigned', { stream, release, error: failureText(failure) })
  }
  const progress = failureText(failure, 'under way')
  return reason('current-damaged', { stream, release, progress })
}

/** Error texts may quote what an upstream sent; a reason is one line on a console. */
export function failureText(
  failure: { readonly message: string } | undefined,
  otherwise = 'no error told',
): string {
  return failure === undefined ? otherwise : bounded(failure.message)
}

export function bounded(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}
