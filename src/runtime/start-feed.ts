import type { Clock } from '../core/clock.ts'
import type { AuditEntry } from '../core/fleet.ts'
import type { Log } from '../core/log.ts'
import type { RequestTrace } from '../core/trace-context.ts'
import { createServiceEventFeed, type ServiceFeed } from './feed.ts'
import { changeEvent, changeSubject } from './fleet/change-event.ts'

export interface StartedFeed {
  readonly feed: ServiceFeed
  /** A change is on disk and in force. */
  changed(audit: readonly AuditEntry[]): void
}

/** The feed of one run of the service. */
export function startFeed({
  clock,
  onChanged,
  currentTrace,
  log,
}: {
  readonly clock: Clock
  /** Also hears of changes. */
  readonly onChanged: (audit: readonly AuditEntry[]) => void
  /** The trace of whatever made the change. */
  readonly currentTrace: () => RequestTrace | undefined
  readonly log: Log
}): StartedFeed {
  const feed = createServiceEventFeed({ clock, epoch: clock.now() })
  return {
    feed,
    changed(audit) {
      onChanged(audit)
      const trace = currentTrace()?.traceId
      for (const entry of audit) {
        feed.publish('change', () => changeEvent(entry), changeSubject(entry))
        const { action, target, by, via, reason } = entry
        log.info({ action, target, by, via, reason, trace }, 'change made')
      }
    },
  }
}
