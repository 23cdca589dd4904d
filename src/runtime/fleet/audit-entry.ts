import type { AuditEntry } from '../../core/fleet.ts'
import type { ChangeOptions } from '../../http/admin/fleet-operations.ts'

/** One line of the audit list, made by whoever made the change. */
export function auditEntry(
  { actor }: Pick<ChangeOptions, 'actor'>,
  at: number,
  what: {
    readonly action: string
    readonly target: string
    readonly summary: string
    readonly reason?: string
  },
): AuditEntry {
  const { reason, ...said } = what
  return { at, by: actor.by, via: actor.via, ...said, ...(reason === undefined ? {} : { reason }) }
}
