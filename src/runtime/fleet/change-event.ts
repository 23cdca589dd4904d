import type { AuditEntry } from '../../core/fleet.ts'
import type { EventSubject } from '../../core/service-event.ts'
import type { AuditSummary } from '../../http/admin/schemas/fleet.ts'
import { iso } from './times.ts'

/** A change as followers are told of it: what the audit list says, whose number in it only the store knows. */
export type ChangeEvent = Omit<AuditSummary, 'id'>

export function changeEvent({ id: _, ...entry }: AuditEntry): ChangeEvent {
  return { ...entry, at: iso(entry.at) }
}

/** `host/rack1-n01` tells of that host. */
export function changeSubject({ target }: Pick<AuditEntry, 'target'>): EventSubject | undefined {
  return target.startsWith('host/') ? { host: target.slice('host/'.length) } : undefined
}
