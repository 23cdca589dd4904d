import type { RetentionConfig } from '../config/config.ts'
import type { FleetStore } from '../state/store.ts'

/** Beyond that the oldest leave before their time: somebody who asks with made-up addresses cannot fill the disk. */
const mostAudit = 200_000
const mostSeen = 10_000
/** Of each kind in one go, some 50 ms; changes of admins go in between. */
const most = 5_000

/**
 * Removes from the state what is kept longer than was asked for.
 * @throws ServiceError STATE_UNAVAILABLE
 */
export async function trimHistory(options: {
  readonly store: Pick<FleetStore, 'trimHistory'>
  readonly retention: RetentionConfig
  readonly now: number
  readonly signal: AbortSignal
}): Promise<number> {
  const { store, retention, now, signal } = options
  let total = 0
  while (!signal.aborted) {
    const { removed } = await store.trimHistory({
      auditBefore: now - retention.auditMs,
      mostAudit,
      reportsBefore: now - retention.reportsMs,
      seenBefore: now - retention.seenMs,
      mostSeen,
      most,
    })
    if (removed === 0) break
    total += removed
  }
  return total
}
