import type { BootSummary } from '../../http/admin/schemas/boots.ts'

/**
 * What of a boot a person wants a new line for: where it is and what is wrong with it. How far a file has come is not,
 * or a thousand machines that fetch their rootfs would hide the one that stands still.
 */
export function bootNews({ state, outcome, phase, step, transfer, diagnosis }: BootSummary): string {
  const isMoving = transfer !== undefined && !transfer.isDone
  return [state, outcome, phase, isMoving ? (transfer.name ?? transfer.role) : step, diagnosis?.code].join(
    '|',
  )
}
