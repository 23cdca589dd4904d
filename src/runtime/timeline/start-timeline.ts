import type { Timeline, TimelineListeners } from '../../boot/timeline/timeline.ts'
import type { AttemptId, BootAttempt, Diagnosis } from '../../core/boot-attempt.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { EventSubject, PublishEvent } from '../../core/service-event.ts'
import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import type { StateStore } from '../../state/store.ts'
import { iso } from '../fleet/times.ts'
import { createAttemptWriter } from './attempt-writer.ts'
import { bootSummary } from './boot-summary.ts'
import type { BootMemory } from './list-boots.ts'
import { createMachineIndex, type MachineIndex } from './machine-index.ts'
import { restoreAttempts } from './restore-attempts.ts'

/** The timeline of a running service, with everybody who hears of it. */
export interface RunningTimeline {
  readonly timeline: Timeline
  readonly machines: MachineIndex
  readonly memory: BootMemory
  note(event: BootEvent): void
  /** Writes what is not written yet. */
  stop(): Promise<void>
}

/** A page that is open shows a step within a second. */
const settleEveryMs = 250
/** Where more changed than one look may take; packets are answered in between. */
const goOnAfterMs = 10

/**
 * Takes up what the last run knew, and goes on from there.
 * @throws ServiceError STATE_UNAVAILABLE
 */
export async function startTimeline(options: {
  readonly create: (listeners: TimelineListeners) => Timeline
  readonly store: Pick<
    StateStore,
    'saveAttempts' | 'trimAttempts' | 'listAttempts' | 'listLastAttempts' | 'listReports'
  >
  /** How long boots are kept, ms. */
  readonly keepMs: () => number
  readonly publish: PublishEvent
  readonly onOver: (attempt: BootAttempt) => void
  readonly onDiagnosis: (attempt: BootAttempt, diagnosis: Diagnosis) => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}): Promise<RunningTimeline> {
  const { store, publish, clock, timers, log } = options
  const timeline = options.create({ onChange, onOver: options.onOver, onDiagnosis: options.onDiagnosis })
  const machines = createMachineIndex({
    glance: (id) => timeline.glance(id),
    attempt: (id) => timeline.attempt(id),
  })
  const kept = await restoreAttempts({ timeline, store, now: clock.now() })
  for (const id of kept) machines.changed(id)
  const writer = createAttemptWriter({ timeline, store, keepMs: options.keepMs, clock, timers, log })
  writer.start()

  function onChange(id: AttemptId): void {
    machines.changed(id)
    publish('boot', () => summaryOf(id), subjectOf(id))
  }

  /** As it is when somebody reads it. */
  function summaryOf(id: AttemptId): BootSummary {
    const attempt = timeline.attempt(id)
    return attempt === undefined ? forgotten(id) : bootSummary(attempt, clock.now())
  }

  /** Looked up for those alone who follow one machine. */
  function subjectOf(id: AttemptId): EventSubject {
    return {
      get host() {
        return timeline.glance(id)?.host
      },
      get mac() {
        return timeline.glance(id)?.mac
      },
    }
  }

  let cancel = () => {}
  function settle(): void {
    const isMore = timeline.settle(clock.now())
    cancel = timers.after(isMore ? goOnAfterMs : settleEveryMs, settle)
  }
  settle()

  return {
    timeline,
    machines,
    memory: {
      attempt: (id) => timeline.attempt(id),
      notKept: () => timeline.notInStore(),
      goingOn: () => timeline.goingOn(),
    },
    note: (event) => timeline.note(event),
    async stop() {
      cancel()
      while (timeline.settle(clock.now()));
      timeline.keepRepeats()
      await writer.stop()
    },
  }
}

/** Of a boot that left memory before anybody read of it; its id begins with its start. */
function forgotten(id: AttemptId): BootSummary {
  const startedAt = iso(Number.parseInt(id.slice(0, 9), 36))
  return { id, state: 'over', phase: 'dhcp', step: '', startedAt, lastAt: startedAt, durationMs: 0 }
}
