import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import { auditEntry } from './audit-entry.ts'
import { findHost } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'

/** Ends what was handed out to a host: a new boot gets new ones. */
export function createRevokeBootTokens({
  queue,
  memory,
  view,
  clock,
}: Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock'>): FleetOperations['revokeBootTokens'] {
  return ({ host, reason }, change) =>
    queue.change(() => {
      const now = clock.now()
      // Tokens of a host that has gone can be ended as well, as long as anything is known of it.
      if (!memory.installs.has(host) && !memory.revocations.has(host)) findHost(host, view().inventory)
      return {
        // One that is handed out in this very millisecond is older than the answer to this.
        changes: [{ put: 'revocation', revocation: { host, before: now + 1 } }],
        audit: [
          auditEntry(change, now, {
            action: 'boot-tokens.revoke',
            target: `host/${host}`,
            summary: `Ignition and report tokens of host ${host} that were handed out until now count no more`,
            reason,
          }),
        ],
        answer: () => {},
      }
    }, change)
}
