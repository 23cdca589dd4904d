import type { Clock } from '../core/clock.ts'
import type { AuditEntry } from '../core/fleet.ts'
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
}: {
  readonly clock: Clock
  /** Also hears of changes. */
  readonly onChanged: (audit: readonly AuditEntry[]) => void
}): StartedFeed {
  const feed = createServiceEventFeed({ clock, epoch: clock.now() })
  return {
    feed,
    changed(audit) {
      onChanged(audit)
      for (const entry of audit) feed.publish('change', () => changeEvent(entry), changeSubject(entry))
    },
  }
}
